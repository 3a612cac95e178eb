import { isIP } from 'node:net'
import { type Parsed, parsed, problem } from '../../base/problem.ts'
import { domainSpecProblem, macroProblem } from './problems.ts'
import type { MacroPart, MacroString } from './terms.ts'

/** The context of a macro string: `c`, `r` and `t` are allowed only in an explanation (RFC 7208 §7.2). */
type MacroUse = 'domain' | 'explanation'

const MACRO = /%\{([a-z])(\d*)(r?)([.\-+,/_=]*)\}/iy
const LITERAL = /[!-$&-~]+/y
const EXPLANATION_LITERAL = /[ -$&-~]+/y

/**
 * Reads a macro string (RFC 7208 §7.1) in linear time. `at` in a problem is the index in `text`. In an explanation,
 * spaces are allowed too (`explain-string`, §6.2).
 */
export function parseMacroString(text: string, use: MacroUse): Parsed<MacroString> {
  const parts: MacroPart[] = []
  let at = 0
  while (at < text.length) {
    const part = text[at] === '%' ? readMacro(text, at, use) : readLiteral(text, at, use)
    if (!part.ok) return part
    parts.push(part.value.part)
    at = part.value.end
  }
  return parsed(parts)
}

type Read = { readonly part: MacroPart; readonly end: number }

function readLiteral(text: string, at: number, use: MacroUse): Parsed<Read> {
  const shape = use === 'explanation' ? EXPLANATION_LITERAL : LITERAL
  shape.lastIndex = at
  const match = shape.exec(text)
  if (!match) return problem(macroProblem('character'), at)
  return parsed({ part: { kind: 'literal', text: match[0] }, end: at + match[0].length })
}

function readMacro(text: string, at: number, use: MacroUse): Parsed<Read> {
  const next = text[at + 1]
  if (next === '%' || next === '_' || next === '-') return parsed({ part: { kind: 'escape', char: next }, end: at + 2 })
  MACRO.lastIndex = at
  const match = MACRO.exec(text)
  if (!match) return problem(macroProblem('percent'), at)
  const [whole, written = '', digits = '', reverse = '', delimiters = ''] = match
  const letter = written.toLowerCase()
  if (!'slodiphvcrt'.includes(letter)) return problem(macroProblem('letter', { text: whole, letter }), at)
  if (use === 'domain' && 'crt'.includes(letter))
    return problem(macroProblem('explanation', { text: whole, letter }), at)
  if (digits !== '' && Number(digits) === 0) return problem(macroProblem('zero', { text: whole }), at)
  const part: MacroPart = {
    kind: 'macro',
    letter,
    urlEscape: written !== letter,
    // A number larger than the number of parts means all parts; 128 is the bound that a reader must support (§7.3).
    ...(digits === '' ? {} : { digits: Math.min(Number(digits), 128) }),
    reverse: reverse !== '',
    delimiters,
  }
  return parsed({ part, end: at + whole.length })
}

/**
 * `"." toplabel [ "." ]` at the end of a literal: letters, digits and inner hyphens, not all digits (RFC 7208 §7.1).
 */
const TOPLABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/

/**
 * Reads a domain-spec (RFC 7208 §7.1): a macro string that ends in a macro or in a dot and a top label. The expansion
 * of a macro is not checked here.
 */
export function parseDomainSpec(text: string): Parsed<MacroString> {
  if (text === '') return problem(domainSpecProblem('empty'), 0)
  const result = parseMacroString(text, 'domain')
  if (!result.ok) return result
  const last = result.value.at(-1)!
  if (last.kind !== 'literal') return result
  const bare = last.text.endsWith('.') ? last.text.slice(0, -1) : last.text
  const dot = bare.lastIndexOf('.')
  const label = bare.slice(dot + 1)
  const at = text.length - last.text.length + dot + 1
  if (dot < 0) return problem(domainSpecProblem('not_full', { text: label }), at)
  if (/^[\d.]+$/.test(bare) && isIP(bare) === 4 && last.text === text)
    return problem(domainSpecProblem('address', { text: bare }), 0)
  if (/^\d+$/.test(label)) return problem(domainSpecProblem('number', { text: label }), at)
  if (!TOPLABEL.test(label)) return problem(domainSpecProblem('top_label', { text: label }), at)
  return result
}
