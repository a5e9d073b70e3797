// The test engine's image, made without any pull: the machine's own node with the libraries it is linked to, and one
// script. Imported as a root filesystem.

import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const IMAGE = "sir-test-engine:1";

const script = fileURLToPath(new URL("./engine/server.mjs", import.meta.url));

/** The files that a dynamically linked program needs, as paths of this machine. */
export function librariesOf(program: string): string[] {
  const { stdout } = spawnSync("ldd", [program], { encoding: "utf8" });
  return [...stdout.matchAll(/(\/\S+)/g)].map(([path]) => path);
}

function rootFilesystem(): string {
  const root = mkdtempSync(join(tmpdir(), "sir-rootfs-"));
  const node = realpathSync(process.execPath);
  const put = (from: string, to: string): void => {
    mkdirSync(dirname(join(root, to)), { recursive: true });
    copyFileSync(from, join(root, to));
  };
  put(node, "/node");
  for (const library of librariesOf(node)) put(realpathSync(library), library);
  cpSync(script, join(root, "server.mjs"));
  mkdirSync(join(root, "tmp"));
  return root;
}

/** Puts the image on the engine; about 100 MB go through its socket once. */
export async function importImage(host: string): Promise<void> {
  const root = rootFilesystem();
  const archive = `${root}.tar`;
  try {
    execFileSync("tar", ["-C", root, "-cf", archive, "."]);
    const changes = ['ENTRYPOINT ["/node","/server.mjs"]', "EXPOSE 8000"].map(
      (each) => `&changes=${encodeURIComponent(each)}`,
    );
    const [repo, tag] = IMAGE.split(":");
    await upload(host, `/images/create?fromSrc=-&repo=${repo}&tag=${tag}${changes.join("")}`, archive);
  } finally {
    rmSync(root, { recursive: true, force: true });
    rmSync(archive, { force: true });
  }
}

/** Posts an archive to Docker's API. */
export async function upload(host: string, path: string, archive: string): Promise<void> {
  const { createReadStream } = await import("node:fs");
  const answer = await new Promise<string>((resolve, reject) => {
    const sending = request(
      {
        socketPath: host.slice("unix://".length),
        method: "POST",
        path,
        headers: { "content-type": "application/x-tar" },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => {
          text += part;
        });
        response.on("end", () => resolve(`${response.statusCode} ${text}`));
      },
    );
    sending.on("error", reject);
    createReadStream(archive).pipe(sending);
  });
  if (!answer.startsWith("200") || answer.includes('"error"')) throw new Error(`the image was not imported: ${answer}`);
}
