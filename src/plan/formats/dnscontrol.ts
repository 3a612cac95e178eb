import type { PlanAnswer, PlanRecord } from '../../answers/plan.ts'
import { commentText, goneLines, headLines, isPlain, laterLines, partsOf, relative, stepLines } from './sets.ts'

/** The plan for DNSControl: `D_EXTEND`, which adds to a domain that is declared elsewhere. */
export function formatDnscontrol(plan: PlanAnswer): string {
  const { domain } = plan
  const head = [
    ...headLines(plan),
    'D_EXTEND adds to the domain that your D() declares. Never use a plain D() here: it purges every record that it does not name.',
    'Take what a step replaces out of your D().',
  ]
  const lines = head.map(comment)
  const body: string[] = []
  for (const part of partsOf(plan)) {
    body.push(
      '',
      ...stepLines(part).map((line) => `  ${comment(line)}`),
      ...goneLines(part.now).map((line) => `  ${comment(line)}`),
    )
    for (const record of part.now.filter(({ action }) => action !== 'remove' && action !== 'keep')) {
      const call = callOf(record, domain)
      if (call === undefined) body.push(`  ${comment(leftOut(record))}`)
      else body.push(`  ${call},`)
    }
    body.push(...laterLines(part, (record) => callOf(record, domain) ?? leftOut(record)).map((line) => `  // ${line}`))
  }
  // END is DNSControl's own name for "nothing": it lets every record end in a comma.
  return `${[...lines, `D_EXTEND(${text(domain)},`, ...body, '  END);'].join('\n')}\n`
}

const comment = (line: string): string => `// ${commentText(line)}`
const leftOut = ({ name, type }: PlanRecord): string => `left out: ${name} ${type} has a name with unusual characters`

function callOf(record: PlanRecord, domain: string): string | undefined {
  const { name, type, ttl, value } = record
  if (!isPlain(record)) return undefined
  const label = text(relative(name, domain))
  const end = `TTL(${ttl}))`
  if (type === 'MX') {
    const [preference = '0', exchange = '.'] = value.split(' ')
    return `MX(${label}, ${Number(preference)}, ${text(exchange)}, ${end}`
  }
  return /^[A-Z]{1,10}$/.test(type) ? `${type}(${label}, ${text(value)}, ${end}` : undefined
}

/** A string in JavaScript, with ASCII alone. */
export const text = (value: string): string =>
  JSON.stringify(value).replace(
    /[^\x20-\x7e]|[<>]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
