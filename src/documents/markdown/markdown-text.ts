import { printable } from '../../base/text.ts'

/** Maximum number of characters written of one text. */
const MAX_TEXT = 8_192

/** Text that stays plain in Markdown: no emphasis, link, HTML, entity, table cell, list, heading or link from a bare URL. */
export const escapeMarkdown = (text: string): string =>
  printable(text, MAX_TEXT)
    .replace(/[\\`*_{}[\]<>#|~&$@]/g, '\\$&')
    .replace(/:(?=\/\/)/g, '\\:')
    .replace(/\b(www|mailto|xmpp)([.:])/gi, '$1\\$2')
    .replace(/^(\s{0,8}\d{1,9})([.)])/, '$1\\$2')
    .replace(/^(\s{0,8})([-+=])/, '$1\\$2')

/** Text as code within a line. Without a pipe, which would end a table cell even within code. */
export function inlineCode(text: string): string {
  const clean = printable(text, MAX_TEXT)
  if (clean.trim() === '') return '(empty)'
  const ticks = '`'.repeat(longestRun(clean) + 1)
  const pad = clean.startsWith('`') || clean.endsWith('`') || ticks.length > 1 ? ' ' : ''
  return `${ticks}${pad}${clean}${pad}${ticks}`
}

/** Lines as a block of code, fenced by more backticks than they contain. */
export function fence(...lines: readonly string[]): string {
  const clean = lines.map((line) => printable(line, MAX_TEXT)).join('\n')
  const ticks = '`'.repeat(Math.max(3, longestRun(clean) + 1))
  return `${ticks}\n${clean}\n${ticks}`
}

/** The longest run of backticks. */
function longestRun(text: string): number {
  let longest = 0
  for (const run of text.match(/`+/g) ?? []) longest = Math.max(longest, run.length)
  return longest
}
