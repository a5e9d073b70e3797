// Time, chance and the environment as web APIs give them: the only file of the client that touches them.

/** setTimeout fires at once beyond this; it is also the longest timeout that an SDK can be given (24.8 days). */
export const LONGEST_TIMER_MS = 2_147_483_647;

/** Monotonic, from an arbitrary zero. */
export function nowMs(): number {
  return performance.now();
}

/** Calls `fire` once after `waitMs`, at most `LONGEST_TIMER_MS`. @returns stops it */
export function after(waitMs: number, fire: () => void): () => void {
  const timer = setTimeout(fire, waitMs);
  return () => clearTimeout(timer);
}

/** @throws the signal's reason, as soon as it is aborted */
export function pause(waitMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = after(waitMs, () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    });
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Up to a quarter more, so that many clients do not come back at the same instant. */
export function jittered(waitMs: number): number {
  return waitMs * (1 + Math.random() / 4);
}

/** 128 random bits. `crypto.randomUUID` is missing on pages that were not served over TLS. */
export function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join("-");
}

/** An environment variable; undefined where there is none, no environment, or no permission to read it. */
export function environment(name: string): string | undefined {
  const host = globalThis as { process?: { env?: Record<string, string | undefined> } };
  try {
    return host.process?.env?.[name] || undefined;
  } catch {
    return undefined;
  }
}

/** What a relative URL is relative to: the page's address, where there is a page. */
export function pageUrl(): string | undefined {
  return (globalThis as { location?: { href: string } }).location?.href;
}
