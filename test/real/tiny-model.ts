// A Llama of 1.6 million random weights with a tokenizer of bytes: small enough to be written in a second, complete
// enough for a real engine. Another seed is another model, which answers something else.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const BYTES = 256;
const [BOS, EOS, PAD] = [BYTES, BYTES + 1, BYTES + 2];
const SHAPE = { vocab: BYTES + 3, hidden: 256, heads: 4, kvHeads: 2, headDim: 64, inner: 512, layers: 2 };
const CHAT = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:";

export function writeTinyModel(folder: string, seed: number): void {
  mkdirSync(folder, { recursive: true });
  const json = (name: string, value: object): void => writeFileSync(join(folder, name), JSON.stringify(value, null, 1));
  json("config.json", config());
  json("generation_config.json", { bos_token_id: BOS, eos_token_id: EOS, pad_token_id: PAD });
  json("tokenizer.json", tokenizer());
  json("tokenizer_config.json", {
    tokenizer_class: "PreTrainedTokenizerFast",
    bos_token: "<s>",
    eos_token: "</s>",
    pad_token: "<pad>",
    model_max_length: 8192,
    chat_template: CHAT,
  });
  writeFileSync(join(folder, "model.safetensors"), safetensors(tensors(), seed));
}

function config(): object {
  return {
    architectures: ["LlamaForCausalLM"],
    model_type: "llama",
    vocab_size: SHAPE.vocab,
    hidden_size: SHAPE.hidden,
    intermediate_size: SHAPE.inner,
    num_hidden_layers: SHAPE.layers,
    num_attention_heads: SHAPE.heads,
    num_key_value_heads: SHAPE.kvHeads,
    head_dim: SHAPE.headDim,
    hidden_act: "silu",
    max_position_embeddings: 8192,
    rms_norm_eps: 1e-5,
    rope_theta: 10000,
    tie_word_embeddings: false,
    bos_token_id: BOS,
    eos_token_id: EOS,
    pad_token_id: PAD,
    torch_dtype: "float32",
  };
}

function tokenizer(): object {
  const special = (content: string, id: number): object => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  });
  const level = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true };
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: [special("<s>", BOS), special("</s>", EOS), special("<pad>", PAD)],
    normalizer: null,
    pre_tokenizer: level,
    post_processor: null,
    decoder: level,
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(letters().map((letter, id) => [letter, id])),
      merges: [],
    },
  };
}

/** The letter that byte-level tokenizers write for each byte: itself where it is printable, else one from U+0100 on. */
function letters(): string[] {
  let other = 256;
  return Array.from({ length: BYTES }, (_, byte) => {
    const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    return String.fromCodePoint(printable ? byte : other++);
  });
}

type Tensor = readonly [name: string, shape: readonly number[]];

function tensors(): Tensor[] {
  const { vocab, hidden, heads, kvHeads, headDim, inner, layers } = SHAPE;
  const layer = (at: number): Tensor[] => {
    const named = (name: string, ...shape: number[]): Tensor => [`model.layers.${at}.${name}.weight`, shape];
    return [
      named("input_layernorm", hidden),
      named("post_attention_layernorm", hidden),
      named("self_attn.q_proj", heads * headDim, hidden),
      named("self_attn.k_proj", kvHeads * headDim, hidden),
      named("self_attn.v_proj", kvHeads * headDim, hidden),
      named("self_attn.o_proj", hidden, heads * headDim),
      named("mlp.gate_proj", inner, hidden),
      named("mlp.up_proj", inner, hidden),
      named("mlp.down_proj", hidden, inner),
    ];
  };
  const all = Array.from({ length: layers }, (_, at) => layer(at)).flat();
  const ends: Tensor[] = [
    ["model.embed_tokens.weight", [vocab, hidden]],
    ["model.norm.weight", [hidden]],
    ["lm_head.weight", [vocab, hidden]],
  ];
  return [...ends, ...all];
}

/** Length of the header, header, numbers; norms are ones, the rest is random around zero. */
function safetensors(all: readonly Tensor[], seed: number): Buffer {
  const random = generator(seed);
  let at = 0;
  const entries = all.map(([name, shape]) => {
    const size = shape.reduce((product, each) => product * each, 1);
    const scale = name.includes("embed") ? 1 : 1.7 / Math.sqrt(shape[1] ?? 1);
    const values = Float32Array.from({ length: size }, () => (shape.length === 1 ? 1 : (random() * 2 - 1) * scale));
    const bytes = Buffer.from(values.buffer);
    const offsets = [at, at + bytes.byteLength];
    at += bytes.byteLength;
    return { bytes, header: [name, { dtype: "F32", shape, data_offsets: offsets }] as const };
  });
  const text = JSON.stringify({
    __metadata__: { format: "pt" },
    ...Object.fromEntries(entries.map((each) => each.header)),
  });
  const header = Buffer.from(text.padEnd(Math.ceil(text.length / 8) * 8));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.byteLength));
  return Buffer.concat([length, header, ...entries.map(({ bytes }) => bytes)]);
}

/** mulberry32. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
