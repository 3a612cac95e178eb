import type { BlacklistAnswer } from '../../answers/blacklist.ts'
import type { VerifyAnswer } from '../../answers/verify.ts'
import { type Block, code, codes, heading, type Line, quiet, text } from '../../documents/block.ts'

/** A verification as blocks: the result, what it rests on, and the attempts. */
export function verifyBlocks(answer: VerifyAnswer): readonly Block[] {
  const facts: (readonly [string, Line])[] = [
    ['Result', [{ strong: answer.result }, ` (${answer.reason})`]],
    ['Deliverability', [`${answer.deliverability}, confidence ${answer.confidence} of 100`]],
    ['Reply', answer.code === 0 ? [answer.message] : [`${answer.code} `, code(answer.message)]],
    ...(answer.mx_server === '' ? [] : [['Mail host', [code(answer.mx_server)]] as const]),
    ...(answer.catch_all === null ? [] : [['Catch-all', [answer.catch_all ? 'yes' : 'no']] as const]),
    ...(answer.checked.length === 0 ? [] : [['Looked up', [sideData(answer)]] as const]),
    ['Observed', [answer.observed_at]],
  ]
  return [
    heading(2, `Mailbox ${answer.email}`),
    { kind: 'facts', rows: facts },
    ...(answer.attempts.length === 0
      ? []
      : [
          {
            kind: 'table',
            table: {
              caption: 'Attempts',
              head: ['Mail host', 'Address', 'From', 'Reply', 'Reason'],
              rows: answer.attempts.map((one): Line[] => [
                [code(one.mx_server)],
                [code(one.address)],
                [code(one.ip_used)],
                [one.code === 0 ? one.message : `${one.code} ${one.message}`],
                [one.reason],
              ]),
            },
          } as const,
        ]),
  ]
}

const sideData = ({ checked, disposable, free, role, suggestion }: VerifyAnswer): string =>
  checked
    .map((name) => {
      if (name === 'disposable') return disposable ? 'disposable' : 'not disposable'
      if (name === 'free') return free ? 'free mail' : 'no free mail'
      if (name === 'role') return role === '' ? 'no role address' : `role ${role}`
      return suggestion === '' ? 'no suggestion' : `perhaps ${suggestion} was meant`
    })
    .join(', ')

/** A blacklist answer as blocks: the listings, then every list. */
export function blacklistBlocks(answer: BlacklistAnswer): readonly Block[] {
  const listed = answer.results.filter((entry) => entry.listed)
  const words = {
    clean: 'On none of the lists.',
    listed: `On ${answer.listed} of ${answer.total} lists.`,
    incomplete: `On none of the ${answer.answered} lists that answered; ${answer.total - answer.answered} did not.`,
  }
  return [
    heading(2, `Blacklists of ${answer.ip}`),
    text({ strong: words[answer.verdict] }),
    ...listed.map(
      (entry): Block => ({
        kind: 'list',
        items: [
          [{ link: entry.delist_url, text: entry.blacklist }, `: ${entry.meaning.join('; ')} `, ...codes(entry.codes)],
        ],
      }),
    ),
    {
      kind: 'table',
      table: {
        caption: 'Lists',
        head: ['List', 'Tier', 'Answer', 'Reason'],
        rows: answer.results.map((entry): Line[] => [
          [entry.blacklist],
          [entry.tier],
          [entry.status.replaceAll('_', ' ')],
          [entry.reason ?? ''],
        ]),
      },
    },
    quiet(`Observed at ${answer.observed_at}, list version ${answer.list_version}.`),
  ]
}

/** The plain fields of an answer that cannot be read as its kind. */
export function plainBlocks(answer: Readonly<Record<string, unknown>>): readonly Block[] {
  const rows = Object.entries(answer).flatMap(([name, value]): (readonly [string, Line])[] =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? [[name, [code(String(value))]]]
      : [],
  )
  return [heading(2, 'Stored answer'), { kind: 'facts', rows }]
}
