/** What harnesses put into a conversation as if a person had written it; nothing but the tag tells. */
const BLOCK =
  /^\s*<(environment_context|user_instructions|permissions instructions|skills_instructions|turn_aborted)>[^]*?<\/\1>\s*/;

/** Whether a message in a person's name is the harness's from its first character to its last. */
export function isHarnessText(text: string): boolean {
  let rest = text;
  for (let block = BLOCK.exec(rest); block; block = BLOCK.exec(rest)) rest = rest.slice(block[0].length);
  return rest === '' && text !== '';
}
