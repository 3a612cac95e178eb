import type { ExpectAnswer } from '../answers/expect.ts'
import { type Block, type Conclusion, code, type Document, heading, text } from './block.ts'
import { footerOf } from './footer.ts'

/** The differences between a file and the DNS, as a diff of each name and type: `-` is expected and not published, `+` is published and not expected. */
export function expectDocument(answer: ExpectAnswer, version: string): Document {
  const { domain, total, differs, unknown, sets, observed_at } = answer
  return {
    title: `Expected records: ${domain}`,
    blocks: [
      { kind: 'conclusion', conclusion: { subject: domain, ...judged(differs, unknown, total), notes: [] } },
      ...sets.filter(({ status }) => status !== 'same').map(diffOf),
      ...(sets.some(({ status }) => status === 'same') ? [heading(2, 'As expected'), same(sets)] : []),
    ],
    footer: footerOf(version, observed_at),
  }
}

function judged(differs: number, unknown: number, total: number): Pick<Conclusion, 'mark' | 'badge' | 'words'> {
  const sets = total === 1 ? 'record set' : 'record sets'
  if (differs > 0)
    return {
      mark: 'bad',
      badge: 'Differs',
      words: `${differs} of ${total} ${sets} ${differs === 1 ? 'differs' : 'differ'} from the expected records.`,
    }
  if (unknown > 0)
    return { mark: 'open', badge: 'Unknown', words: `${unknown} of ${total} ${sets} could not be determined.` }
  return {
    mark: 'good',
    badge: 'As expected',
    words: total === 1 ? 'The record set is published as expected.' : `All ${total} ${sets} are published as expected.`,
  }
}

function diffOf({ name, type, status, expected, published, reason }: ExpectAnswer['sets'][number]): Block {
  if (status === 'unknown') return text(code(`${name} ${type}`), ` is unknown: ${reason ?? 'no answer'}`)
  const gone = expected.filter((value) => !published.includes(value)).map((value) => `- ${value}`)
  const kept = expected.filter((value) => published.includes(value)).map((value) => `  ${value}`)
  const added = published.filter((value) => !expected.includes(value)).map((value) => `+ ${value}`)
  return {
    kind: 'seen',
    label: `${name} ${type} ${status === 'missing' ? 'is not published' : 'differs'}`,
    text: [...kept, ...gone, ...added],
  }
}

const same = (sets: ExpectAnswer['sets']): Block => ({
  kind: 'list',
  items: sets.filter(({ status }) => status === 'same').map(({ name, type }) => [code(`${name} ${type}`)]),
})
