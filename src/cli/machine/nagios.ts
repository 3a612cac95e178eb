import { printable, withoutCommands } from '../../base/text.ts'
import { reaches } from '../severity.ts'
import type { Setup, Writer } from './names.ts'
import type { Outcome } from './outcome.ts'

/** States of a plugin by exit status (Monitoring Plugins Development Guidelines §2.3). */
const NAMES = ['OK', 'WARNING', 'CRITICAL', 'UNKNOWN'] as const
/** The state of several targets: the first of these that any of them has. */
const WORST = [2, 1, 3, 0] as const

/**
 * The line of a Nagios plugin with performance data, and its exit status: a finding at or above `--fail-on` (default high), a score below `--min-score`, an undeliverable
 * address and a listing are CRITICAL, a finding of medium severity is WARNING, an unknown result is UNKNOWN.
 */
export function nagiosWriter(setup: Pick<Setup, 'failOn'>): Writer {
  const stateOf = (all: readonly Outcome[]): number => {
    const states = all.map((outcome) => state(outcome, setup))
    return WORST.find((one) => states.includes(one)) ?? 3
  }
  return {
    each: () => '',
    end: (all) => {
      const [first] = all
      const [one, name] = [all.length === 1, NAMES[stateOf(all)] ?? 'UNKNOWN']
      const summary = one ? `${first?.target}: ${first?.line}` : `${all.length} targets, ${countOf(all, setup)}`
      const data = all.flatMap(({ target, score }) =>
        score === undefined ? [] : [`${one ? 'score' : `'${label(target)}'`}=${score};;;0;100`],
      )
      const worse = all.filter((outcome) => state(outcome, setup) !== 0)
      const details = worse.flatMap(({ target, line, issues }) => [
        ...(one ? [] : [`${target}: ${line}`]),
        ...issues
          .filter(({ severity }) => reaches(severity, 'medium'))
          .map(({ title, detail }) => `${title}: ${detail}`),
      ])
      const text = `MAILSONDE ${name} - ${plain(summary)}${data.length === 0 ? '' : ` | ${data.join(' ')}`}`
      return `${[text, ...details.map(plain)].join('\n')}\n`
    },
    status: stateOf,
  }
}

function state({ verdict, issues }: Outcome, { failOn }: Pick<Setup, 'failOn'>): number {
  if (verdict === 'bad' || issues.some(({ severity }) => reaches(severity, failOn))) return 2
  if (verdict !== 'good') return 3
  return issues.some(({ severity }) => reaches(severity, 'medium')) ? 1 : 0
}

function countOf(all: readonly Outcome[], setup: Pick<Setup, 'failOn'>): string {
  const states = all.map((outcome) => state(outcome, setup))
  return WORST.flatMap((one) => {
    const count = states.filter((state) => state === one).length
    return count === 0 ? [] : [`${count} ${NAMES[one]}`]
  }).join(', ')
}

/** `|` begins the performance data. */
const plain = (text: string): string => withoutCommands(printable(text, 1_000).replaceAll('|', '/'))
const label = (text: string): string => withoutCommands(printable(text, 100)).replaceAll(/['=|]/g, '_')
