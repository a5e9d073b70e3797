import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { given } from "./given.ts";

const THEME = "document.documentElement.dataset.theme = 'dark';";
const INDEX = `<!doctype html><script>${THEME}</script><script type="module" src="./assets/index-Ab12.js"></script>`;
const SCRIPT = "export const page = 'a long enough text to be worth packing';".repeat(20);

async function built(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sir-page-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "index.html"), INDEX);
  await writeFile(join(folder, "assets", "index-Ab12.js"), SCRIPT);
  return folder;
}

const serving = async () => (await given({ deps: { dashboardFolder: await built() } })).app;

describe("the dashboard's files", () => {
  it("are reached from /dashboard by an address that holds behind a proxy's prefix", async () => {
    const app = await serving();

    const answer = await app.request("/dashboard");

    expect([answer.status, answer.headers.get("location")]).toEqual([308, "dashboard/"]);
  });

  it.each([
    ["/", "/dashboard/"],
    ["/dashboard/jobs", "/dashboard/#/jobs"],
    ["/dashboard/jobs/job_1", "/dashboard/#/jobs/job_1"],
  ])("are found by who types %s, and a program is told that there is nothing", async (typed, place) => {
    const app = await serving();

    const person = await app.request(typed, { headers: { accept: "text/html,*/*;q=0.8" } });
    const program = await app.request(typed, { headers: { accept: "*/*" } });

    const location = person.headers.get("location") ?? "";
    const at = new URL(location, `http://proxy/prefix${typed}`);
    expect([person.status, at.pathname + at.hash]).toEqual([302, `/prefix${place}`]);
    expect(location).not.toMatch(/^\//);
    expect([program.status, await program.json()]).toMatchObject([404, { error: { code: "route_not_found" } }]);
  });

  it("are asked for anew where they are the page, and kept for ever where the name is the content's", async () => {
    const app = await serving();

    const page = await app.request("/dashboard/");
    const script = await app.request("/dashboard/assets/index-Ab12.js");

    expect([page.status, await page.text(), page.headers.get("cache-control")]).toEqual([200, INDEX, "no-cache"]);
    expect(await script.text()).toBe(SCRIPT);
    expect(script.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  });

  it("let no other script run than the one that the page was built with, and nobody frame it", async () => {
    const app = await serving();

    const { headers } = await app.request("/dashboard/");

    const hash = createHash("sha256").update(THEME).digest("base64");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain(`script-src 'self' 'sha256-${hash}';`);
    expect(policy).toContain("default-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  });

  it("come packed to whoever takes that", async () => {
    const app = await serving();

    const packed = await app.request("/dashboard/assets/index-Ab12.js", {
      headers: { "accept-encoding": "br, gzip" },
    });
    const refused = await app.request("/dashboard/assets/index-Ab12.js", {
      headers: { "accept-encoding": "gzip;q=0" },
    });

    expect(packed.headers.get("content-encoding")).toBe("gzip");
    expect(gunzipSync(Buffer.from(await packed.arrayBuffer())).toString()).toBe(SCRIPT);
    expect(refused.headers.get("content-encoding")).toBeNull();
    expect(packed.headers.get("vary")).toBe("accept-encoding");
  });

  it("answer HEAD, and other methods with what is allowed", async () => {
    const app = await serving();

    const head = await app.request("/dashboard/", { method: "HEAD" });
    const post = await app.request("/dashboard/", { method: "POST" });

    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  it.each(["nothing.js", "..%2f..%2fpackage.json", "%2e%2e/%2e%2e/package.json", "assets", "assets/"])(
    "are only what was built: %s",
    async (name) => {
      const app = await serving();

      const answer = await app.request(`/dashboard/${name}`);

      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ error: { code: "route_not_found" } });
    },
  );

  it("say how to build them where nobody did", async () => {
    const { app } = await given({ deps: { dashboardFolder: "/nowhere" } });

    const answer = await app.request("/dashboard/");

    expect([answer.status, answer.headers.get("content-type")]).toEqual([503, "text/html; charset=utf-8"]);
    expect(await answer.text()).toContain("npm run build");
  });
});
