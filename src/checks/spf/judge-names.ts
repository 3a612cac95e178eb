import { providerOfInclude } from '../../mailhosts/providers/index.ts'
import type { Finding } from '../check.ts'
import { softened } from './fixes.ts'
import { fixOf, type Said } from './judge-form.ts'
import type { SpfReading } from './reading.ts'
import { formatMacroString, formatSpf, type MacroString, type SpfRecord } from './terms.ts'
import type { SpfNode, SpfTerm } from './tree.ts'

/**
 * Names without records that contain the domain once too often at their end: an editor that appends the domain to names without a final dot created them
 * (RFC 1035 §5.1). One finding, whose fix corrects all of them.
 */
export function judgeNames({ domain, evidence }: Said, root: SpfNode, reading: SpfReading): Finding[] {
  const { record } = root
  if (!record) return []
  const meant = new Map<string, string>()
  for (const term of root.terms) {
    const name = meantBy(term, domain)
    if (name !== undefined) meant.set(targetOf(term, record), name)
  }
  if (meant.size === 0) return []
  const mended = renamed(record, meant)
  const text = formatSpf(reading.permerrors.length > 0 ? softened(mended) : mended)
  return [
    {
      id: 'spf.doubled_name',
      args: { names: [...meant.keys()], meant: [...meant.values()] },
      evidence,
      ...fixOf(domain, text),
    },
  ]
}

/** The name without the domain at its end, if it has no records and the rest is unambiguous: the domain again, or a name of a known provider. */
function meantBy(term: SpfTerm, domain: string): string | undefined {
  const isVoid = term.node ? term.node.state === 'none' : term.state === 'void'
  const name = term.name?.toLowerCase().replace(/\.$/, '') ?? ''
  if (!isVoid || !name.endsWith(`.${domain}`)) return undefined
  const rest = name.slice(0, -domain.length - 1)
  return rest === domain || rest.endsWith(`.${domain}`) || providerOfInclude(rest) ? rest : undefined
}

const targetOf = ({ directive }: SpfTerm, { redirect }: SpfRecord): string => {
  const mechanism = directive?.mechanism
  const target = mechanism && 'domain' in mechanism ? mechanism.domain : redirect
  return target ? formatMacroString(target) : ''
}

/** The record with other names. */
function renamed(record: SpfRecord, names: ReadonlyMap<string, string>): SpfRecord {
  const mend = (target: MacroString): MacroString => {
    const text = names.get(formatMacroString(target))
    return text === undefined ? target : [{ kind: 'literal', text }]
  }
  return {
    ...record,
    ...(record.redirect ? { redirect: mend(record.redirect) } : {}),
    directives: record.directives.map((directive) => {
      const { mechanism } = directive
      if (!('domain' in mechanism) || !mechanism.domain) return directive
      return { ...directive, mechanism: { ...mechanism, domain: mend(mechanism.domain) } }
    }),
  }
}
