// GPUs of this machine: NVIDIA by nvidia-smi, AMD by rocm-smi or sysfs, Apple by sysctl. Where GPU and main memory are
// one, nvidia-smi says [N/A], and what main memory has less a reserve is offered.

import { type FoundDevice, type GpuTenant, toGiB } from "./found.ts";
import { member } from "./json-reading.ts";
import { mainMemoryBytes, outputOf, type Surroundings, systemFile, systemFolder } from "./surroundings.ts";

/** Of memory that the operating system and everything else need too. */
const UNIFIED_RESERVE_GIB = 8;
/** A display, a context, the driver's own. */
const DISCRETE_RESERVE_GIB = 1;
/** What Apple lets the GPU hold when no limit is set. */
const APPLE_SHARE = 0.75;
const MIB_BYTES = 1024 ** 2;

export async function findDevices(surroundings: Surroundings): Promise<readonly FoundDevice[]> {
  const [nvidia, amd, apple] = await Promise.all([
    nvidiaDevices(surroundings),
    amdDevices(surroundings),
    appleDevice(surroundings),
  ]);
  return [...nvidia, ...amd, ...apple].map((device, at) => ({ ...device, id: `gpu${at}` }));
}

/** Who holds GPU memory now, where nvidia-smi tells; it does on unified memory too. */
export async function findTenants(surroundings: Surroundings): Promise<readonly GpuTenant[]> {
  const output = await outputOf(
    "nvidia-smi",
    ["--query-compute-apps=process_name,used_memory", "--format=csv,noheader,nounits"],
    surroundings,
  );
  return rowsOf(output).flatMap(([process = "", mib = ""]) => {
    const usedGiB = toGiB(Number(mib) * MIB_BYTES);
    return Number.isFinite(usedGiB) && usedGiB > 0 ? [{ process, usedGiB }] : [];
  });
}

type Device = Omit<FoundDevice, "id">;

const rowsOf = (output: string | null): string[][] =>
  (output ?? "")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => line.split(",").map((cell) => cell.trim()));

async function nvidiaDevices(surroundings: Surroundings): Promise<readonly Device[]> {
  const fields = "index,name,uuid,memory.total,driver_version";
  const output = await outputOf("nvidia-smi", [`--query-gpu=${fields}`, "--format=csv,noheader,nounits"], surroundings);
  return rowsOf(output).flatMap(([index = "", model = "", , mib = ""]) => {
    if (!/^\d+$/.test(index)) return [];
    const totalGiB = /^\d+(\.\d+)?$/.test(mib) ? toGiB(Number(mib) * MIB_BYTES) : null;
    return [totalGiB === null ? unified(model, surroundings) : discrete("nvidia", model, totalGiB)];
  });
}

function discrete(vendor: FoundDevice["vendor"], name: string, totalGiB: number): Device {
  const offeredGiB = Math.max(0.5, roundDown(totalGiB - DISCRETE_RESERVE_GIB));
  return { name, vendor, totalGiB, offeredGiB, unified: false, notes: [] };
}

function unified(model: string, surroundings: Surroundings): Device {
  const name = model.includes("GB10") ? `${model} (DGX Spark)` : model;
  const bytes = mainMemoryBytes(surroundings);
  const totalGiB = bytes === null ? null : toGiB(bytes);
  const offeredGiB = totalGiB === null ? null : Math.max(1, roundDown(totalGiB - UNIFIED_RESERVE_GIB));
  return { name, vendor: "nvidia", totalGiB, offeredGiB, unified: true, notes: ["nvidia-smi reports no memory here"] };
}

async function amdDevices(surroundings: Surroundings): Promise<readonly Device[]> {
  const output = await outputOf("rocm-smi", ["--showmeminfo", "vram", "--json"], surroundings);
  const told = Object.entries(jsonOf(output))
    .filter(([card]) => card.startsWith("card"))
    .map(([card, values]) => ({ card, bytes: Number(member(values, "VRAM Total Memory (B)")) }));
  const cards = told.length > 0 ? told : sysfsCards(surroundings);
  return cards.flatMap(({ card, bytes }) => {
    if (!Number.isFinite(bytes) || bytes <= 0) return [];
    const device = discrete("amd", `AMD ${card}`, toGiB(bytes));
    const borrowed = numberIn(`/sys/class/drm/${card}/device/mem_info_gtt_total`, surroundings);
    if (borrowed === null || borrowed <= bytes) return [device];
    const note = `and ${toGiB(borrowed)} GiB of main memory that it can borrow (GTT), which is not offered`;
    return [{ ...device, notes: [note] }];
  });
}

function sysfsCards(surroundings: Surroundings): { card: string; bytes: number }[] {
  return systemFolder("/sys/class/drm", surroundings)
    .filter((name) => /^card\d+$/.test(name))
    .flatMap((card) => {
      const bytes = numberIn(`/sys/class/drm/${card}/device/mem_info_vram_total`, surroundings);
      return bytes === null ? [] : [{ card, bytes }];
    });
}

function numberIn(path: string, surroundings: Surroundings): number | null {
  const text = systemFile(path, surroundings)?.trim() ?? "";
  return /^\d+$/.test(text) ? Number(text) : null;
}

async function appleDevice(surroundings: Surroundings): Promise<readonly Device[]> {
  if (surroundings.platform !== "darwin" || surroundings.arch !== "arm64") return [];
  const output = await outputOf("sysctl", ["-n", "hw.memsize", "iogpu.wired_limit_mb"], surroundings);
  const [bytes = Number.NaN, limitMib = 0] = (output ?? "").trim().split(/\s+/).map(Number);
  if (!Number.isFinite(bytes) || bytes <= 0) return [];
  const totalGiB = toGiB(bytes);
  const offeredGiB = roundDown(limitMib > 0 ? limitMib / 1024 : totalGiB * APPLE_SHARE);
  const note = limitMib > 0 ? "iogpu.wired_limit_mb is the limit" : "three quarters of main memory, the system's limit";
  return [{ name: "Apple silicon", vendor: "apple", totalGiB, offeredGiB, unified: true, notes: [note] }];
}

function jsonOf(output: string | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(output ?? "");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const roundDown = (gib: number): number => Math.floor(gib * 2) / 2;
