// What can be said about a model that lives in a container, with units, and what is refused in words.

import { z } from "zod";
import { dockerHostFault } from "./docker-address.ts";

const text = (): z.ZodString => z.string().min(1);
const names = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "is no name of a variable"), z.string());

const CONTAINER_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]+$/;
/** `source:target`, and options such as `ro`. A source without a slash is a named volume. */
const MOUNT = /^[^:]+:\/[^:]*(:[A-Za-z,]+)?$/;

const dockerHost = text()
  .superRefine((given, issues) => {
    const fault = dockerHostFault(given);
    if (fault !== null) issues.addIssue({ code: "custom", message: fault });
  })
  .optional()
  .describe(
    "The Docker engine: unix:///path or tcp://host:port. Default: DOCKER_HOST, else unix:///var/run/docker.sock.",
  );

const gpus = z
  .union([z.literal("all"), z.literal("none"), z.array(text()).min(1), z.record(z.string(), z.array(text()).min(1))])
  .default("all")
  .describe(
    'GPUs the container sees: "all", "none", a list of indices or UUIDs, or such a list for each device of the configuration.',
  );

const publish = z
  .strictObject({
    address: text().default("127.0.0.1").describe("Address of the Docker host on which the port is published."),
    port: z.int().min(0).max(65_535).default(0).describe("Published port; 0: a free one, chosen by Docker."),
  })
  .prefault({})
  .describe("How the engine's port is published. Not used with `network`.");

export const vllmDockerOptions = z
  .strictObject({
    dockerHost,
    tlsCertPath: text()
      .optional()
      .describe("Folder with ca.pem, cert.pem, key.pem. Default: DOCKER_CERT_PATH while DOCKER_TLS_VERIFY is set."),
    existing: z
      .boolean()
      .default(false)
      .describe(
        "True: `containerName` is a container made by others (compose); it is only started, stopped, inspected.",
      ),
    containerName: z
      .string()
      .regex(CONTAINER_NAME, "must be letters, digits, '_', '.', '-'")
      .optional()
      .describe("Name of the container. Default: namePrefix and the model's name."),
    namePrefix: z
      .string()
      .regex(CONTAINER_NAME, "must be letters, digits, '_', '.', '-'")
      .default("sir")
      .describe("Marks the containers of one router. Two routers on one Docker engine need different ones."),
    image: text()
      .optional()
      .describe("Image with its tag or digest, e.g. vllm/vllm-openai:v0.20.2. Not used with `existing`."),
    pullPolicy: z
      .enum(["missing", "never", "always"])
      .default("missing")
      .describe("When the image is pulled before a load."),
    modelPath: text().optional().describe("What vLLM's --model gets. Default: the model's name."),
    entrypoint: z.array(z.string()).optional().describe("Instead of the image's own entrypoint."),
    command: z
      .array(z.string())
      .optional()
      .describe("Instead of vLLM's arguments (--model, --served-model-name, --port); extraArgs follow it."),
    extraArgs: z.array(z.string()).default([]).describe("Further arguments, e.g. --gpu-memory-utilization 0.90."),
    env: names.default({}).describe("Environment of the container."),
    apiKey: text()
      .regex(/^[\x21-\x7e]+$/, "must be printable characters without spaces")
      .optional()
      .describe("Key the engine asks for: given to it as VLLM_API_KEY, and sent as a bearer token."),
    gpus,
    runtime: text().optional().describe("Docker runtime, e.g. nvidia. Default: the engine's own."),
    devices: z
      .array(text())
      .default([])
      .describe("Host devices passed in, e.g. /dev/kfd, for engines without a runtime of their own."),
    ipc: text().default("host").describe("IPC mode; tensor parallelism needs host, or a large shmSizeGiB."),
    shmSizeGiB: z.number().positive().optional().describe("Size of /dev/shm in GiB. Without effect when ipc is host."),
    memoryLimitGiB: z
      .number()
      .positive()
      .optional()
      .describe("Main memory the container may use, in GiB. Default: no limit."),
    mounts: z
      .array(z.string().regex(MOUNT, "must be source:/target, or source:/target:ro"))
      .default([])
      .describe(
        "Host folders (absolute) or named volumes: source:/target[:ro]. Keep /root/.cache/huggingface and /root/.cache/vllm.",
      ),
    port: z.int().min(1).max(65_535).default(8000).describe("Port the engine listens on inside the container."),
    publish,
    network: text()
      .optional()
      .describe("Docker network that the router is in too: the engine is reached by its container's name."),
    reachHost: text()
      .optional()
      .describe("Host name under which published ports are reached. Default: publish.address."),
    init: z
      .boolean()
      .default(true)
      .describe("A small init as process 1, so that an engine still loading can be stopped at once."),
    hostConfig: z
      .record(z.string(), z.json())
      .default({})
      .describe("Anything else of HostConfig, spelled as in the Docker Engine API; wins over the rest."),
    stopGraceSeconds: z
      .number()
      .min(0)
      .max(60)
      .default(30)
      .describe("From SIGTERM to SIGKILL, in seconds; above vLLM's own --shutdown-timeout."),
    healthPath: z.string().startsWith("/").default("/health").describe("Path that answers 2xx when the engine is up."),
    probe: z
      .enum(["auto", "none"])
      .default("auto")
      .describe(
        "auto: a load is done when one real token came, where the engine has completions. none: health and name only.",
      ),
  })
  .superRefine((options, issues) => {
    const refuse = (path: string, message: string): void => issues.addIssue({ code: "custom", path: [path], message });
    if (options.existing && options.containerName === undefined) {
      refuse("containerName", "is needed with existing: it names the container that others made");
    }
    if (!options.existing && options.image === undefined) {
      refuse("image", "is needed, unless existing is true; pin its tag, e.g. vllm/vllm-openai:v0.20.2");
    }
  });

export type VllmDockerOptions = z.output<typeof vllmDockerOptions>;
