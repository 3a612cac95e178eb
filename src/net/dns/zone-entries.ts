import type { Problem } from '../../base/problem.ts'
import { zoneProblem } from './problems.ts'
import type { Field } from './record-data.ts'

/**
 * One entry of a zone file: the line on which it begins (from 1), whether its first field is omitted (white space at
 * the beginning), and its fields.
 */
export type ZoneEntry =
  | { readonly line: number; readonly isIndented: boolean; readonly fields: readonly Field[] }
  | { readonly line: number; readonly problem: Problem }

/** Maximum number of fields of an entry. */
const MAX_FIELDS = 1_010

/**
 * Splits the text of a zone file into entries (RFC 1035 §5.1): quotes, escapes, parentheses over several lines,
 * comments. One pass over the text; a problem ends it.
 */
export function* zoneEntries(text: string): Generator<ZoneEntry> {
  // A piece is a line end, white space, a comment, a parenthesis, a quoted text, or a word; an unclosed quote is a
  // piece by itself.
  const pieces =
    /(\r?\n|\r)|([ \t\u00a0\u2000-\u200b\u202f\u3000\ufeff]+)|(;[^\r\n]*)|([()])|"((?:[^"\\\r\n]|\\[^\r\n])*)"|((?:[^\s();"\\\u200b]|\\[^\r\n])+)|([\s\S])/gu
  let line = 1
  let depth = 0
  let start = 1
  let isIndented = false
  let atLineStart = true
  let fields: Field[] = []
  for (const [, end, space, comment, parenthesis, quoted, word, stray] of text.matchAll(pieces)) {
    if (end !== undefined) {
      if (depth === 0 && fields.length > 0) {
        yield { line: start, isIndented, fields }
        fields = []
      }
      line++
      atLineStart = true
      continue
    }
    if (stray !== undefined) return yield { line, problem: strayed(stray) }
    if (atLineStart && depth === 0 && fields.length === 0) {
      isIndented = space !== undefined
      start = line
    }
    atLineStart = false
    if (space !== undefined || comment !== undefined) continue
    if (parenthesis !== undefined) {
      depth += parenthesis === '(' ? 1 : -1
      if (depth < 0) return yield { line, problem: zoneProblem('close') }
      if (depth > 1) return yield { line, problem: zoneProblem('nested') }
      continue
    }
    if (fields.length >= MAX_FIELDS) return yield { line: start, problem: zoneProblem('fields', { max: MAX_FIELDS }) }
    fields.push({ text: quoted ?? word!, quoted: quoted !== undefined })
  }
  if (depth > 0) return yield { line: start, problem: zoneProblem('open') }
  if (fields.length > 0) yield { line: start, isIndented, fields }
}

function strayed(character: string): Problem {
  if (character === '"') return zoneProblem('quote')
  if (character === '\\') return zoneProblem('line_backslash')
  const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
  return zoneProblem('character', { code: `U+${code}` })
}
