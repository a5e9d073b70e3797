// What can be tried: presets, the policy, its settings, and the words to take away. Nothing here is applied.

import type { ReplayChoicesWire, ReplaySettingWire } from "../../../src/client/wire-live.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Panel } from "../parts/panel.tsx";
import { Control } from "./controls.tsx";
import { isMain, POLICY_WORDS } from "./names.ts";
import { commandOf, configLine, type SettingValues, trimmed, type Wish } from "./wish.ts";

const TEN_MINUTES = 600;

interface TryPanelProps {
  readonly choices: ReplayChoicesWire;
  readonly wish: Wish;
  /** Of the router's refusal, to mark the setting it speaks of. */
  readonly refusal: string | null;
  change(next: Pick<Wish, "policy" | "set">): void;
}

export function TryPanel({ choices, wish, refusal, change }: TryPanelProps) {
  const policy = wish.policy === "" ? choices.policy : wish.policy;
  const settings = choices.policies[policy] ?? [];
  const base = baseOf(choices, policy, settings);
  const control = (setting: ReplaySettingWire) => (
    <Control
      key={`${policy} ${setting.key}`}
      setting={setting}
      base={base[setting.key]}
      value={setting.key in wish.set ? wish.set[setting.key] : base[setting.key]}
      refused={refusal?.includes(setting.key) === true && setting.key in wish.set}
      change={(value) => change({ policy: wish.policy, set: trimmed({ ...wish.set, [setting.key]: value }, base) })}
    />
  );
  const rest = settings.filter(({ key }) => !isMain(key));
  return (
    <Panel title="Settings to try" id="h-try" class="knobs">
      <div class="knob">
        <div class="knob-head">
          <label for="policy">Policy</label>
          <code>policy</code>
        </div>
        <select
          id="policy"
          value={policy}
          onChange={(event) => change({ policy: otherPolicy(choices, event.currentTarget.value), set: {} })}
        >
          {Object.keys(choices.policies).map((name) => (
            <option key={name} value={name}>
              {name}
              {name === choices.policy ? " (now)" : ""}
            </option>
          ))}
        </select>
        {POLICY_WORDS[policy] !== undefined && <small>By {POLICY_WORDS[policy]}.</small>}
      </div>
      {settings.filter(({ key }) => isMain(key)).map(control)}
      {rest.length > 0 && (
        <details open={rest.some(({ key }) => key in wish.set)}>
          <summary>{rest.length === 1 ? "1 more setting" : `${rest.length} more settings`}</summary>
          {rest.map(control)}
        </details>
      )}
      <TakeAway wish={wish} />
    </Panel>
  );
}

/** What the settings are while nothing is tried. */
function baseOf(choices: ReplayChoicesWire, policy: string, settings: readonly ReplaySettingWire[]): SettingValues {
  const now = policy === choices.policy ? choices.settings : {};
  return Object.fromEntries(settings.map((each) => [each.key, each.key in now ? now[each.key] : each.default]));
}

const otherPolicy = ({ policy }: ReplayChoicesWire, name: string): string => (name === policy ? "" : name);

interface Preset {
  readonly name: string;
  readonly policy: string;
  readonly set: SettingValues;
}

function presetsOf({ policy, policies, settings }: ReplayChoicesWire): Preset[] {
  const ceiling = settings["maxWaitSeconds"];
  const reads = (policies[policy] ?? []).some(({ key }) => key === "maxWaitSeconds");
  const own = (name: string, set: SettingValues): Preset => ({ name, policy: "", set });
  const ceilings = !reads
    ? []
    : [
        ...(ceiling === TEN_MINUTES ? [] : [own("Ceiling 10 min", { maxWaitSeconds: TEN_MINUTES })]),
        ...(typeof ceiling === "number"
          ? [own("Twice the ceiling", { maxWaitSeconds: ceiling * 2 }), own("No ceiling", { maxWaitSeconds: null })]
          : []),
      ];
  const others = Object.keys(policies)
    .filter((name) => name !== policy)
    .map((name): Preset => ({ name: `Policy ${name}`, policy: name, set: {} }));
  return [own("As it ran", {}), ...ceilings, ...others];
}

export function Presets({ choices, wish, change }: Pick<TryPanelProps, "choices" | "wish" | "change">) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out in a line of tools
    <div class="presets" role="group" aria-label="Presets">
      {presetsOf(choices).map(({ name, policy, set }) => (
        <button
          key={name}
          type="button"
          class="button"
          aria-pressed={policy === wish.policy && JSON.stringify(set) === JSON.stringify(wish.set)}
          onClick={() => change({ policy, set })}
        >
          {name}
        </button>
      ))}
    </div>
  );
}

function TakeAway({ wish }: { readonly wish: Wish }) {
  const [command, line] = [commandOf(wish), configLine(wish)];
  return (
    <div class="take-away">
      <p class="note">Nothing is applied here. The same comparison on the command line:</p>
      <pre class="wrapped">{command}</pre>
      <CopyButton text={command} label="Copy command" />
      {line !== "" && (
        <>
          <p class="note">To have it for good, in the configuration:</p>
          <pre class="wrapped">{line}</pre>
          <CopyButton text={line} label="Copy line" />
        </>
      )}
    </div>
  );
}
