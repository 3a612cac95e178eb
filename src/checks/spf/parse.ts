import { type Parsed, parsed, problem } from '../../base/parsed.ts'
import type { Problem } from '../../base/problem.ts'
import { parseDomainSpec } from './domain-spec.ts'
import { parseMacroString } from './macro.ts'
import { parseMechanism } from './parse-mechanism.ts'
import { spfProblem } from './problems.ts'
import type { Directive, MacroString, Qualifier, SpfRecord, UnknownModifier } from './terms.ts'

const VERSION = /^v=spf1(?= |$)/i
const NAME = /[A-Za-z][A-Za-z0-9._-]*/y

/** Maximum size of a record, octets; a longer one gives permerror, because the work for a record must be bounded (RFC 7208 §11.1). */
export const MAX_RECORD = 8_192

/** Why a record over {@link MAX_RECORD} is not evaluated. */
export const tooLong = (text: string): Problem => spfProblem('too_long', { count: text.length, max: MAX_RECORD })

/** Whether a TXT record is an SPF record: the version, then a space or the end (RFC 7208 §4.5). Case is ignored. */
export const isSpf = (text: string): boolean => VERSION.test(text)

/**
 * Reads an SPF record (RFC 7208 §4.6.1, grammar §12) in linear time. Any fault makes the whole record unusable; `at` is the index of the first one in `text`.
 */
export function parseSpf(text: string): Parsed<SpfRecord> {
  if (!isSpf(text)) return problem(spfProblem('version'), 0)
  const draft: Draft = { directives: [], unknown: [] }
  let at = 'v=spf1'.length
  while (at < text.length) {
    if (text[at] === ' ') {
      at++
      continue
    }
    const space = text.indexOf(' ', at)
    const end = space < 0 ? text.length : space
    const fault = readTerm(text.slice(at, end), draft)
    if (fault) return problem(fault.problem, at + (fault.at ?? 0))
    at = end
  }
  return parsed(draft)
}

type Draft = {
  directives: Directive[]
  unknown: UnknownModifier[]
  redirect?: MacroString
  exp?: MacroString
}
type Fault = { readonly problem: Problem; readonly at?: number }

function readTerm(term: string, draft: Draft): Fault | undefined {
  const foreign = term.search(/[^!-~]/)
  if (foreign >= 0) return { problem: spfProblem('separator'), at: foreign }
  const qualified = /^[+\-?~]/.test(term)
  NAME.lastIndex = qualified ? 1 : 0
  const name = NAME.exec(term)?.[0]
  if (name === undefined) return { problem: spfProblem('term', { text: term }), at: 0 }
  const rest = term.slice(NAME.lastIndex)
  if (rest.startsWith('=')) {
    if (qualified) return { problem: spfProblem('qualifier', { text: term }), at: 0 }
    return readModifier(name, rest.slice(1), draft)
  }
  const mechanism = parseMechanism(name, rest)
  if (!mechanism.ok) return shifted(mechanism, NAME.lastIndex)
  draft.directives.push({ qualifier: qualified ? (term[0] as Qualifier) : '+', mechanism: mechanism.value })
  return undefined
}

function readModifier(written: string, value: string, draft: Draft): Fault | undefined {
  const name = written.toLowerCase()
  const from = written.length + 1
  if (name !== 'redirect' && name !== 'exp') {
    // c, r and t are "allowed only in 'exp' text", so not here either (RFC 7208 §7.2).
    const result = parseMacroString(value, 'domain')
    if (!result.ok) return shifted(result, from)
    draft.unknown.push({ name: written, value: result.value })
    return undefined
  }
  // RFC 7208 §6: each at most once
  if (draft[name] !== undefined) return { problem: spfProblem('twice', { name }), at: 0 }
  const result = parseDomainSpec(value)
  if (!result.ok) return shifted(result, from)
  draft[name] = result.value
  return undefined
}

const shifted = (fault: Fault, by: number): Fault => ({ problem: fault.problem, at: by + (fault.at ?? 0) })
