// What dies with a router: its timers never fire again, and nothing it still waits for ever comes.

import type { Clock, Timer } from "../../src/domain/clock.ts";

export class Mortal {
  #dead = false;
  readonly #onDeath: (() => void)[] = [];

  get dead(): boolean {
    return this.#dead;
  }

  die(): void {
    if (this.#dead) return;
    this.#dead = true;
    for (const tell of this.#onDeath.splice(0)) tell();
  }

  onDeath(tell: () => void): void {
    if (this.#dead) tell();
    else this.#onDeath.push(tell);
  }

  /** A clock whose timers die too. */
  clock(clock: Clock): Clock {
    const unlessDead = (fire: () => void) => (): void => {
      if (!this.#dead) fire();
    };
    return {
      nowMs: () => clock.nowMs(),
      wallMs: () => clock.wallMs(),
      at: (atMs, fire): Timer => clock.at(atMs, unlessDead(fire)),
      soon: (fire) => clock.soon(unlessDead(fire)),
    };
  }

  /** The same object; its promises neither resolve nor reject after death, and calls after death do nothing. */
  guard<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (object, key) => {
        const value: unknown = Reflect.get(object, key, object);
        if (typeof value !== "function") return value;
        return (...args: unknown[]): unknown => {
          if (this.#dead) return NEVER;
          const result: unknown = Reflect.apply(value, object, args);
          return result instanceof Promise ? this.lasting(result) : result;
        };
      },
    });
  }

  /** The promise while alive; after death it stays pending for ever. */
  lasting<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      promise.then(
        (value) => {
          if (!this.#dead) resolve(value);
        },
        (error: unknown) => {
          if (!this.#dead) reject(error);
        },
      );
    });
  }
}

const NEVER = new Promise<never>(() => {});
