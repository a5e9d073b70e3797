#!/usr/bin/env bash
# A new user, timed: a fresh clone, the README's two commands, a first answer; then models of their own (an Ollama, and a
# vLLM that holds port 8000) by `init`, `doctor` and `serve`. The second half runs in a network of its own, where the
# engines can have their default ports; that needs root.
#
#   test/real/new-user.sh [COMMIT]
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d /tmp/sir-new-user-XXXXXX)
pids=()
clean() {
  for pid in "${pids[@]:-}"; do [ -z "$pid" ] || kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
  rm -rf "$work"
}
trap clean EXIT

if [ "${1:-}" != --own-models ]; then
  started=$(date +%s)
  since() { echo "$(($(date +%s) - started)) s"; }
  git -c safe.directory='*' clone -q "$here" "$work/sir"
  [ -z "${1:-}" ] || git -C "$work/sir" checkout -q "$1"
  cd "$work/sir"
  echo "after $(since): cloned"
  npm ci --no-audit --no-fund --loglevel=error >"$work/npm.log" 2>&1 || { tail -20 "$work/npm.log"; exit 1; }
  echo "after $(since): npm ci"
  port=$((20000 + RANDOM % 20000))
  SIR_PORT=$port node dist/cli.js serve >"$work/serve.log" 2>&1 &
  pids+=($!)
  for _ in $(seq 300); do curl -fsS "http://127.0.0.1:$port/healthz" >/dev/null 2>&1 && break; sleep 0.1; done
  curl -fsS "http://127.0.0.1:$port/v1/chat/completions" -H 'content-type: application/json' \
    -d '{"model":"chat","messages":[{"role":"user","content":"hello"}]}' | grep -q '"choices"'
  echo "after $(since): FIRST ANSWER (wanted: 120 s)"
  curl -fsS "http://127.0.0.1:$port/dashboard/" | grep -qi '<!doctype html'
  echo "after $(since): the dashboard's page"
  took=$(($(date +%s) - started))
  kill "${pids[0]}" && wait "${pids[0]}" || true
  pids=()
  [ "$took" -le 120 ] || echo "SLOWER THAN WANTED: $took s (load $(cut -d' ' -f1 /proc/loadavg) on $(nproc) cores)"
  SIR_CLONE="$work/sir" unshare -n "$here/test/real/new-user.sh" --own-models
  exit
fi

# In a network of its own from here on.
ip link set lo up
cd "$SIR_CLONE"
started=$(date +%s)
since() { echo "$(($(date +%s) - started)) s"; }
node "$here/test/real/fake-engines.mjs" >"$work/engines.log" 2>&1 &
pids+=($!)
for _ in $(seq 100); do curl -fsS http://127.0.0.1:8000/version >/dev/null 2>&1 && break; sleep 0.1; done

echo "--- sir init --yes"
npx --no-install sir init --yes 2>&1
grep -q 'port: 8100' sir.config.ts
echo "after $(since): init"
echo "--- sir doctor"
npx --no-install sir doctor | grep -v '  default$' | sed -n '1,14p'
echo "after $(since): doctor"
npx --no-install sir serve >"$work/serve.log" 2>&1 &
pids+=($!)
for _ in $(seq 300); do curl -fsS http://127.0.0.1:8100/healthz >/dev/null 2>&1 && break; sleep 0.1; done
for model in qwen3:8b mistral-small:24b openai/gpt-oss-20b; do
  curl -fsS --max-time 60 http://127.0.0.1:8100/v1/chat/completions -H 'content-type: application/json' \
    -d "{\"model\":\"$model\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}" | grep -o '"content":"[^"]*"'
done
echo "after $(since): THREE ANSWERS from own models (wanted: 600 s)"
