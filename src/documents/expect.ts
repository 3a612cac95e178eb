import type { ExpectAnswer } from '../answers/expect.ts'
import { type Block, code, type Document, heading, text } from './block.ts'

/** What differs between a file and the DNS, as a diff of each name and type: `-` is expected and not published, `+` is published and not expected. */
export function expectDocument(answer: ExpectAnswer, version: string): Document {
  const { domain, total, differs, unknown, sets, observed_at } = answer
  const verdict =
    differs > 0
      ? `${differs} of ${total} record sets are not published as expected`
      : unknown > 0
        ? `${unknown} of ${total} record sets could not be found out`
        : `All ${total} record sets are published as expected`
  return {
    title: `Expected records: ${domain}`,
    blocks: [
      text({ strong: verdict }),
      ...sets.filter(({ status }) => status !== 'same').map(diffOf),
      ...(sets.some(({ status }) => status === 'same') ? [heading(2, 'As expected'), same(sets)] : []),
    ],
    footer: [[`Observed ${observed_at}.`], [`mailsonde ${version}`]],
  }
}

function diffOf({ name, type, status, expected, published, reason }: ExpectAnswer['sets'][number]): Block {
  const label = `${name} ${type}: ${status}`
  if (status === 'unknown') return text(code(`${name} ${type}`), ` is unknown: ${reason ?? 'no answer'}`)
  const gone = expected.filter((value) => !published.includes(value)).map((value) => `- ${value}`)
  const kept = expected.filter((value) => published.includes(value)).map((value) => `  ${value}`)
  const added = published.filter((value) => !expected.includes(value)).map((value) => `+ ${value}`)
  return { kind: 'seen', label, text: [...kept, ...gone, ...added].join('\n') }
}

const same = (sets: ExpectAnswer['sets']): Block => ({
  kind: 'list',
  items: sets.filter(({ status }) => status === 'same').map(({ name, type }) => [code(`${name} ${type}`)]),
})
