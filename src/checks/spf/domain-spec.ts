import { isIP } from 'node:net'
import { type Parsed, problem } from '../../base/parsed.ts'
import { parseMacroString } from './macro.ts'
import { domainSpecProblem } from './problems.ts'
import type { MacroString } from './terms.ts'

/** `"." toplabel [ "." ]` at the end of a literal: letters, digits and inner hyphens, not all digits (RFC 7208 §7.1). */
const TOPLABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/

/** Reads a domain-spec (RFC 7208 §7.1): a macro string that ends in a macro or in a dot and a top label. The expansion of a macro is not checked here. */
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
