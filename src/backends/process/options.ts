// What can be said about an engine that the router starts as a process of its own, with units.

import { isAbsolute } from "node:path";
import { z } from "zod";

const text = (): z.ZodString => z.string().min(1);
const variables = () => z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "is no name of a variable"), z.string());

// biome-ignore lint/suspicious/noTemplateCurlyInString: this is what is written in a configuration
const PORT = "${PORT}";

/** What engines need of the router's own environment. The router's secrets are not among it. */
const PASSED = [
  "PATH HOME USER LOGNAME SHELL LANG LC_* TZ TMPDIR LD_LIBRARY_PATH LIBRARY_PATH XDG_* VIRTUAL_ENV CONDA_* PYTHON*",
  "CUDA_* NVIDIA_* NCCL_* HIP_* ROCR_* ROCM_* HSA_* GGML_* OMP_* MKL_* TORCH* TRITON_* VLLM_* SGLANG_* LLAMA_*",
  "HF_* HUGGING* TRANSFORMERS_* SSL_CERT_* http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY",
].flatMap((line) => line.split(" "));

export const engineFields = {
  command: z.array(text()).min(1).describe(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholders are named
    "Program and arguments, without a shell; it stays in the foreground. ${PORT}, ${HOST}, ${MODEL} and ${DEVICE} are filled in.",
  ),
  cwd: text()
    .refine(isAbsolute, "must be an absolute path")
    .optional()
    .describe("Folder it runs in. Default: the router's own."),
  env: variables().default({}).describe("Environment, besides what is passed on. The same placeholders are filled in."),
  deviceEnv: z
    .record(z.string(), variables())
    .default({})
    .describe('Environment for each device of the configuration, e.g. { gpu1: { CUDA_VISIBLE_DEVICES: "1" } }.'),
  passEnv: z
    .array(text())
    .default(PASSED)
    .describe("Names of the router's variables that are passed on; a trailing * stands for any ending."),
  host: text().default("127.0.0.1").describe("Address under which the engine is reached."),
  port: z.int().min(0).max(65_535).default(0).describe(`Port of the engine; 0: a free one, given to it as ${PORT}.`),
  healthPath: z.string().startsWith("/").default("/health").describe("Path that answers 2xx when the engine is up."),
  probe: z
    .enum(["auto", "none"])
    .default("auto")
    .describe("auto: a load is done when one real token came, where the engine has completions. none: without that."),
  listed: z
    .boolean()
    .default(true)
    .describe("False: the engine's /v1/models does not name the model, or does not exist; it is not asked."),
  apiKey: text()
    .regex(/^[\x21-\x7e]+$/, "must be printable characters without spaces")
    .optional()
    .describe("Key the engine asks for, sent as a bearer token. Give it to the engine through env."),
  stopSignal: z
    .enum(["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP"])
    .default("SIGTERM")
    .describe("What asks the engine to end."),
  stopGraceSeconds: z
    .number()
    .min(0)
    .max(60)
    .default(30)
    .describe("From that signal to SIGKILL for the whole tree of processes, in seconds."),
  logLines: z.int().min(10).max(100_000).default(2_000).describe("Newest lines of its output that are kept."),
};

interface Ported {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly port: number;
}

/** In words, when the engine could never learn its port; else null. */
export function portFault({ command, env, port }: Ported): string | null {
  if (port !== 0) return null;
  const told = [...command, ...Object.values(env)].some((each) => each.includes(PORT));
  return told ? null : `is free, so the engine has to be told: write ${PORT} where its command or env takes the port`;
}

export const processOptions = z.strictObject(engineFields).superRefine((options, issues) => {
  const fault = portFault(options);
  if (fault !== null) issues.addIssue({ code: "custom", path: ["port"], message: fault });
});

export type ProcessOptions = z.output<typeof processOptions>;
