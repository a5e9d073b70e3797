// The page on the command line: every command's own help, as `sir COMMAND --help` prints it.

import { commandHelp, exitCodesHelp } from "../../src/cli/help.ts";
import { everyCommand } from "../../src/cli/main.ts";
import { heading } from "./table.ts";

const INTRO = `Data goes to standard output, talk to standard error. \`--json\` prints one document; an error then prints nothing on standard
output and one JSON object on standard error. Off a terminal there is no colour and nothing is cut short.`;

export async function commandsPage(): Promise<string> {
  const commands = await everyCommand();
  const parts = commands.map((command) => `## \`sir ${command.name}\`\n\n${fence(commandHelp(command))}`);
  return `${heading("Command line", INTRO)}\n${[...parts, `## Exit status\n\n${fence(exitCodesHelp())}`].join("\n\n")}\n`;
}

const fence = (text: string): string => `\`\`\`text\n${text}\n\`\`\``;
