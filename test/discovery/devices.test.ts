import { describe, expect, it } from "vitest";
import { findDevices, findTenants } from "../../src/discovery/devices.ts";
import { GB10, nvidiaSmi, surroundings } from "./fakes.ts";

const MEMINFO = { "/proc/meminfo": "MemTotal:       127643648 kB\nMemFree: 1 kB\n" };

describe("devices", () => {
  it("NVIDIA with memory of its own offers all but a reserve", async () => {
    const gpus = "0, NVIDIA GeForce RTX 4090, GPU-1, 24564, 570.1\n1, NVIDIA GeForce RTX 3090, GPU-2, 24576, 570.1";

    const devices = await findDevices(surroundings({ programs: { "nvidia-smi": nvidiaSmi(gpus) } }));

    expect(devices).toMatchObject([
      { id: "gpu0", name: "NVIDIA GeForce RTX 4090", totalGiB: 23.99, offeredGiB: 22.5, unified: false },
      { id: "gpu1", name: "NVIDIA GeForce RTX 3090", totalGiB: 24, offeredGiB: 23, unified: false },
    ]);
  });

  it("NVIDIA that reports [N/A] is unified: main memory less 8 GiB, by its name", async () => {
    const [device] = await findDevices(surroundings({ programs: { "nvidia-smi": nvidiaSmi(GB10) }, files: MEMINFO }));

    expect(device).toEqual({
      ...{ id: "gpu0", name: "NVIDIA GB10 (DGX Spark)", vendor: "nvidia", totalGiB: 121.73, offeredGiB: 113.5 },
      ...{ unified: true, notes: ["nvidia-smi reports no memory here"] },
    });
  });

  it("NVIDIA's driver that fails is no device", async () => {
    const script = "echo 'NVIDIA-SMI has failed because it couldn’t communicate with the NVIDIA driver.'; exit 9";

    expect(await findDevices(surroundings({ programs: { "nvidia-smi": script } }))).toEqual([]);
  });

  it("nvidia-smi that hangs is given up", async () => {
    expect(await findDevices(surroundings({ programs: { "nvidia-smi": "exec sleep 30" } }))).toEqual([]);
  });

  it("who holds memory is known on unified memory too", async () => {
    const programs = { "nvidia-smi": nvidiaSmi(GB10, "/usr/bin/ollama, 9300\nVLLM::EngineCore, 18432\nXorg, [N/A]") };

    expect(await findTenants(surroundings({ programs }))).toEqual([
      { process: "/usr/bin/ollama", usedGiB: 9.08 },
      { process: "VLLM::EngineCore", usedGiB: 18 },
    ]);
  });

  it("AMD by rocm-smi", async () => {
    const json = JSON.stringify({
      card0: { "VRAM Total Memory (B)": "17163091968" },
      system: { "Driver version": "6" },
    });

    const devices = await findDevices(surroundings({ programs: { "rocm-smi": `echo '${json}'` } }));

    expect(devices).toMatchObject([{ name: "AMD card0", vendor: "amd", totalGiB: 15.98, offeredGiB: 14.5, notes: [] }]);
  });

  it("AMD by sysfs, where what an APU can borrow is said apart", async () => {
    const folder = "/sys/class/drm/card1/device";
    const files = {
      [`${folder}/mem_info_vram_total`]: "4294967296\n",
      [`${folder}/mem_info_gtt_total`]: "32212254720\n",
      "/sys/class/drm/card1-DP-1/status": "connected",
    };

    const devices = await findDevices(surroundings({ files }));

    expect(devices).toHaveLength(1);
    expect(devices[0]).toMatchObject({ name: "AMD card1", totalGiB: 4, offeredGiB: 3 });
    expect(devices[0]?.notes[0]).toContain("30 GiB of main memory that it can borrow");
  });

  it.each([
    ["0", 48],
    ["57344", 56],
  ])("Apple with a wired limit of %s MiB offers %d GiB", async (limit, offeredGiB) => {
    const programs = { sysctl: `printf '68719476736\\n${limit}\\n'` };

    const devices = await findDevices(surroundings({ programs, platform: "darwin", arch: "arm64" }));

    expect(devices).toMatchObject([{ vendor: "apple", totalGiB: 64, offeredGiB, unified: true }]);
  });

  it("none is none", async () => {
    expect(await findDevices(surroundings())).toEqual([]);
    expect(await findTenants(surroundings())).toEqual([]);
  });
});
