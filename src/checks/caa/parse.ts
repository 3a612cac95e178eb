import { type Parsed, parsed, problem } from '../../base/parsed.ts'
import { caaProblem } from './problems.ts'

/**
 * The value of an `issue`, `issuewild` or `issuemail` property (RFC 8659 §4.2, RFC 9495 §4). An empty `issuer` forbids
 * everybody.
 */
export type Issuer = { readonly issuer: string; readonly parameters: Readonly<Record<string, string>> }

const DOMAIN = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i
/** Maximum number of characters of a value. */
const MAX_LENGTH = 4_096
const TAG = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i

/** Reads `ca.example; account=1`. At most 4,096 characters and 50 parameters. */
export function parseIssuer(text: string): Parsed<Issuer> {
  if (text.length > MAX_LENGTH) return problem(caaProblem('too_long', { max: MAX_LENGTH }))
  const [issuer = '', ...rest] = text.split(';').map((part) => part.replace(/^[ \t]+/, '').replace(/[ \t]+$/, ''))
  if (issuer !== '' && !(issuer.length <= 255 && DOMAIN.test(issuer)))
    return problem(caaProblem('issuer', { text: issuer }))
  const parameters: Record<string, string> = Object.create(null)
  for (const part of rest.filter((one) => one !== '').slice(0, 50)) {
    const at = part.indexOf('=')
    const tag = part.slice(0, Math.max(0, at)).trimEnd()
    if (at < 0 || tag.length > 255 || !TAG.test(tag) || !/^[\x21-\x3a\x3c-\x7e]*$/.test(part.slice(at + 1).trimStart()))
      return problem(caaProblem('parameter', { text: part }))
    parameters[tag.toLowerCase()] = part.slice(at + 1).trimStart()
  }
  return parsed({ issuer: issuer.toLowerCase(), parameters })
}
