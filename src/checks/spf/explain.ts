import { DnsError } from '../../net/dns/resolver.ts'
import { presentationOf } from './ask.ts'
import { expandName, expandText, usesLetter } from './expand.ts'
import { parseMacroString } from './macro.ts'
import { validatedName } from './pointer.ts'
import type { Run, Verdict } from './run.ts'

/**
 * The domain owner's explanation of a `fail` (RFC 7208 §6.2); undefined if there is none or anything is wrong with it: no answer, no record or several, a
 * character outside ASCII, a syntax fault. It does not count toward a limit.
 */
export async function explain(run: Run, { exp, domain }: Verdict): Promise<string | undefined> {
  if (!exp) return undefined
  try {
    const validated = usesLetter(exp, 'p') ? await validatedName(run, domain) : 'unknown'
    const name = expandName(exp, { ...run.values, domain, validated })
    if (name === undefined || name === '') return undefined
    const { records } = await run.ask(presentationOf(name), 'TXT')
    return records.length === 1 ? await explanation(run, records[0]!, domain) : undefined
  } catch (error) {
    if (!(error instanceof DnsError)) throw error
    return undefined
  }
}

async function explanation(run: Run, text: string, domain: string): Promise<string | undefined> {
  const parts = parseMacroString(text, 'explanation')
  if (!parts.ok) return undefined
  const validated = usesLetter(parts.value, 'p') ? await validatedName(run, domain) : 'unknown'
  return expandText(parts.value, { ...run.values, domain, validated })
}
