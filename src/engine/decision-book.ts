// Every decision's row: what was decided, by whom where somebody asked, the sentence. Keeps the one in force on each device.

import type { Decision, Looks, Verdict } from "../domain/decision.ts";
import type { ModelName } from "../domain/ids.ts";
import { sentence } from "../scheduler/explain.ts";
import type { Decided } from "../scheduler/verdict.ts";
import type { DeviceUnit } from "./device.ts";
import { LookBook } from "./looks.ts";
import type { EngineWorld } from "./state.ts";

export class DecisionBook {
  readonly #world: EngineWorld;
  /** How often each stay was confirmed. */
  readonly #looks: LookBook;

  constructor(world: EngineWorld) {
    this.#world = world;
    this.#looks = new LookBook((entries) => world.store.append(entries));
  }

  inForce(device: DeviceUnit): Decision | null {
    return this.#looks.inForce(device);
  }

  /** How often the one in force was confirmed until now; null: there was one look. */
  looksOf(device: DeviceUnit): Looks | null {
    return this.#looks.of(device);
  }

  /**
   * One row for every move and every change of reason; what is under way is explained by the row that began it. The
   * decision in force.
   */
  decided(device: DeviceUnit, decided: Decided): Decision | null {
    const inForce = this.inForce(device);
    if (decided.guard === "in_transition" && decided.kind === "hold") return inForce;
    const stays = decided.kind === "hold" || decided.kind === "idle";
    if (stays && inForce !== null && keyOf(inForce) === keyOf(decided)) {
      this.#looks.again(device, decided, this.#world.clock.nowMs());
      return inForce;
    }
    const decision = this.#write(decided, this.#askedBy(decided));
    this.#looks.began(device, decision);
    return decision;
  }

  /** What an operator did. A move is in force from now on; what moves nothing leaves in force what was. */
  byHand(device: DeviceUnit, decided: Decided, askedBy: string): Decision {
    const decision = this.#write(decided, askedBy);
    if (decided.kind === "unload") this.#looks.began(device, decision);
    return decision;
  }

  /** Writes what is not written yet: the router goes down. */
  flush(): void {
    this.#looks.flush();
  }

  #write(decided: Decided, askedBy: string | null): Decision {
    const { clock, ids, settings, models, store, emit } = this.#world;
    const { serve: _, serves: __, first: ___, against, ...verdict } = decided;
    const labels = (model: ModelName): string => models.get(model)?.spec.label ?? model;
    const decision: Decision = {
      ...verdict,
      id: ids.next("dec"),
      pool: settings.pool,
      policy: settings.policy.name,
      atMs: clock.nowMs(),
      wallMs: clock.wallMs(),
      sentence: sentence(verdict, labels, { ...settings.policy.guards, against }),
      ...(askedBy === null ? {} : { askedBy }),
    };
    store.append([{ type: "decision", decision }]);
    emit({ type: "decision", decision });
    return decision;
  }

  /** A load that an operator's wish or pin is behind. */
  #askedBy({ load, reason }: Verdict): string | null {
    const entry = load === null ? undefined : this.#world.models.get(load);
    if (entry === undefined) return null;
    return reason === "operator" ? entry.wantedBy : reason === "pinned" ? entry.pinnedBy : null;
  }
}

/** What a row is news about: a stay is the same whether or not the resident has work at this very moment. */
function keyOf(verdict: Verdict): string {
  return [verdict.reason, verdict.guard, verdict.load, ...verdict.resident.map(({ model }) => model)].join("|");
}
