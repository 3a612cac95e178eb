/** Maximum number of characters before a record in a text that was pasted with more than the record. */
const MAX_FRONT = 300

/**
 * What can stand before a record: the rest of a line of a zone file (`name 3600 IN TXT "`), or a label of a few
 * letters, brackets, quotation marks and those of Markdown (`SPF: `, `(`, `**`, a letter too many).
 */
const FRONT =
  /^(?:[^"]{0,255}\bTXT\s{1,20}[("'\s]{0,8}|["'`*\\\s\u200b-\u200f\u2018-\u201f<([{]{0,8}(?:[a-z0-9_.-]{1,16}\s{0,2}[:=]?\s{0,2})?["'`*\s<([{]{0,4})$/i

/** Whether more than quotation marks stands before the record: a word, a bracket, marks of Markdown. */
export const isPasted = (text: string, marker: RegExp): boolean =>
  unpasted(text, marker) !== text && /[a-z0-9([{<`*]/i.test(text.slice(0, text.search(marker)))

/**
 * The record in a text that was pasted with more than the record; `marker` is its beginning. The text itself where
 * nothing else stands before it, and where what stands there is no front of a record.
 */
export function unpasted(text: string, marker: RegExp): string {
  const at = text.slice(0, MAX_FRONT).search(marker)
  if (at < 1 || !FRONT.test(text.slice(0, at))) return text
  const opened = text
    .slice(0, at)
    .match(/["'`*([{<]/g)
    ?.at(-1)
  const rest = text.slice(at).replace(/"\s{0,20}"/g, '') // the strings of one record
  const close = opened === undefined ? undefined : CLOSING[opened]
  if (close === undefined) return rest
  const end = rest.indexOf(close)
  return end < 0 ? rest : rest.slice(0, end)
}

const CLOSING: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '`': '`',
  '*': '*',
  '(': ')',
  '[': ']',
  '{': '}',
  '<': '>',
}
