// Which keys are the page's, and which are somebody's text.

/** True: the key is text for a field, or a command of the browser. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  return event.target instanceof Element && event.target.matches("input, select, textarea, dialog *");
}
