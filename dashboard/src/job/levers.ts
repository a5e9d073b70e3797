// What would change a wait, as it is written: which words are code, and where a command leads on the page. Pure.

/** A key of the configuration or a command; all else is a fact. */
export const isCode = (lever: string): boolean => /^(sir [a-z]|[a-z]+(\.[\w*]+)+$)/.test(lever);

/** From `sir replay --from … --set maxWaitSeconds=600` to the address of the page What if. */
export function whatIfOf(command: string): Record<string, string> {
  const settings = [...command.matchAll(/--set[= ](\S+)/g)].map(([, pair = ""]) => pair);
  const policy = /--policy[= ](\S+)/.exec(command)?.[1];
  return {
    ...(settings.length === 0 ? {} : { set: settings.join(",") }),
    ...(policy === undefined ? {} : { policy }),
  };
}
