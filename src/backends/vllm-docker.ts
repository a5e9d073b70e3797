// The vllm-docker driver: one container per model on a Docker engine. Switching models is stopping one container and
// starting the other. Any image fits that serves OpenAI's API with a health path; the defaults are vLLM's.

import { createHash } from "node:crypto";
import { defineDriver } from "./backend.ts";
import { DockerBackend } from "./vllm-docker/backend.ts";
import { dockerAddress } from "./vllm-docker/docker-address.ts";
import { DockerHttp } from "./vllm-docker/docker-http.ts";
import { type VllmDockerOptions, vllmDockerOptions } from "./vllm-docker/options.ts";

export const vllmDocker = defineDriver({
  name: "vllm-docker",
  options: vllmDockerOptions,
  usesDevice: true,
  /** The models of one router on one Docker engine share its connections and its stream of events. */
  shareKey: (_model, { dockerHost, tlsCertPath, namePrefix }: VllmDockerOptions) =>
    createHash("sha256")
      .update(JSON.stringify([dockerHost, tlsCertPath, namePrefix]))
      .digest("hex"),
  create(members, context) {
    const [member] = members;
    if (member === undefined) throw new Error("a container backend needs a model");
    const address = dockerAddress(member.options, context.environment ?? {});
    return new DockerBackend(members, new DockerHttp(address, context.clock), context);
  },
});
