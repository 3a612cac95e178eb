import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exampleOf } from '../../test/lab/answer.ts'
import type { ListEntry } from '../answers/blacklist.ts'
import { checkAnswer } from '../answers/check.ts'
import { readOpen } from '../answers/read-answer.ts'
import { type ReportAnswer, reportAnswer } from '../answers/report.ts'
import { viewMarkdown, viewTable } from '../cli/view.ts'
import type { Answer } from '../documents/check/answer.ts'
import { checkDocument } from '../documents/check/check-document.ts'
import { formatHtml } from '../documents/html/html.ts'
import { CONTENT_SECURITY_POLICY } from '../documents/html/style.ts'
import { formatMarkdown } from '../documents/markdown/markdown.ts'
import { check } from './check.ts'
import { report } from './report.ts'

const html = (answer: Answer) => formatHtml(checkDocument(answer, '0.0.0'))
const markdown = (answer: Answer) => formatMarkdown(checkDocument(answer, '0.0.0'))

/** What outside text may hold: each stands in every text of an answer. */
const HOSTILE: readonly (readonly [text: string, why: string])[] = [
  ['<script>alert(1)</script>', 'a script'],
  ['"><img src=x onerror=alert(1)>', 'an attribute that is left, and an image'],
  ["' onmouseover='alert(1)", 'the other quote'],
  ['</style><style>*{display:none}', 'the end of the style'],
  ['</pre></code></td></table><h1>owned</h1>', 'the end of what it stands in'],
  ['<!-- ', 'a comment that swallows the rest'],
  ['javascript:alert(1)', 'a link that is a script'],
  ['data:text/html,<script>alert(1)</script>', 'a link that is a page'],
  ['https://a.example/"onclick="x', 'a link with a quote in it'],
  ['https://user:secret@a.example/', 'a link that carries a name'],
  ['`` ` ``` code` `', 'backticks'],
  ['a | b \\| c \\\\| d', 'cells'],
  ['[click](https://a.example/) ![x](https://a.example/x.png)', 'a link and an image of Markdown'],
  ['<https://a.example/> https://a.example www.a.example a@a.example', 'links that Markdown makes by itself'],
  ['\u001b[31mred\u001b]0;title\u0007\r\n# heading\n- item', 'escape sequences and lines'],
  ['\u202egnp.exe\u2066', 'text that runs backwards'],
  ['pay\u200bpal\u061c\ufeff\u{e0041}\u{e007f}', 'characters that hide in text'],
  ['# a', 'a heading'],
  ['1. a', 'a list'],
  ['&lt;b&gt; &amp; &#x3c;', 'entities'],
  ['$(id) $a$', 'formulas'],
  ['constructor', 'a name that every object has'],
  ['__proto__', 'a name that every object has'],
]
/** The example with a listing, its words, a place and a pool: every part where outside text is shown. */
const example = exampleOf(report)
const [address] = example.blacklists
const [first, ...others] = address!.results
const listing: ListEntry = {
  ...first!,
  listed: true,
  status: 'listed',
  codes: ['127.0.0.2'],
  meaning: ['x'],
  txt: 'x',
  scope_text: 'x',
}
const listedReport: ReportAnswer = {
  ...example,
  unicode_domain: 'x',
  blacklists: [
    {
      ...address!,
      results: [listing, ...others],
      mx_hosts: ['x'],
      geo: { ...address!.geo, country_name: 'x', city: 'x', asn: 64_500, as_org: 'x', bogon: null },
    },
  ],
  pool: [
    {
      address: 'x',
      listed: true,
      listings: [{ blacklist: 'x', tier: 'A', meaning: ['x'], delist_url: 'x' }],
      verdict: 'listed',
      answered: 29,
      total: 29,
    },
  ],
}
/** What the schema fixes: a service cannot answer with other words there. */
const FIXED =
  /^(?:kind|observed_at|type|component|discovery|policy|scope|(?:mx_)?(?:status|kind)|(?:report_)?grade|(?:worst_)?tier|severity|verdict)$/

/** The answer with every free text replaced; the keys, numbers and what the schema fixes stay. */
function filled(value: unknown, text: string, key = ''): unknown {
  if (typeof value === 'string') return FIXED.test(key) ? value : text
  if (Array.isArray(value)) return value.map((item) => filled(item, text, key))
  if (typeof value !== 'object' || value === null) return value
  const named = (name: string): string => (key === 'domain_role' && name === 'name' ? 'kind' : name)
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, filled(item, text, named(name))]))
}

/** The answer of a hostile service, as far as it is one at all. */
function hostile(text: string, answer: Answer = listedReport): Answer {
  const schema = answer.blacklists ? reportAnswer : checkAnswer
  const read = readOpen(schema, filled(answer, text))
  if (!read.ok) throw new Error(read.problem)
  return read.value
}

const TAGS =
  /^<(?:!doctype html|\/?(?:html|head|body|main|header|footer|section|div|title|style|h[1-4]|p|ul|li|dl|dt|dd|pre|code|span|strong|b|a|svg|rect|table|caption|thead|tbody|tfoot|tr|th|td|meta))(?=[\s>/])/
const ATTRIBUTE =
  /^\s+(?:lang|charset|name|content|http-equiv|class|id|href|rel|role|tabindex|scope|aria-label|aria-hidden|focusable|viewBox|preserveAspectRatio|width|height|rx)="[^"<>]*"/

/** What a browser would take for markup, and is none of ours. */
function foreign(page: string): string[] {
  const body = page.replace(/<style>[\s\S]*?<\/style>/, '')
  const found: string[] = []
  for (let at = body.indexOf('<'); at >= 0; at = body.indexOf('<', at + 1)) {
    const rest = body.slice(at, at + 20_000)
    const open = TAGS.exec(rest)?.[0] ?? ''
    let inside = rest.slice(open.length)
    for (let next = ATTRIBUTE.exec(inside); next; next = ATTRIBUTE.exec(inside)) inside = inside.slice(next[0].length)
    if (open === '' || !/^\/?>/.test(inside)) found.push(rest.slice(0, 80))
  }
  return found
}

describe('HTML', () => {
  it.each(HOSTILE)('%j: %s', (text) => {
    for (const answer of [hostile(text), hostile(text, exampleOf(check))]) {
      const page = html(answer)
      expect(foreign(page)).toEqual([])
      for (const [, href] of page.matchAll(/href="([^"]*)"/g)) expect(href).toMatch(/^(?:https?:\/\/[^@"<>]*|#[\w-]+)$/)
      expect(page.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    }
  })

  it('the text is there, as text', () => {
    const page = html(hostile('<script>alert(1)</script>'))
    expect(page.split('&lt;script&gt;alert(1)&lt;/script&gt;').length).toBeGreaterThan(50)
  })

  it('any text at all', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => void expect(foreign(html(hostile(text)))).toEqual([])),
      { numRuns: 25 },
    )
  })

  it('the policy names the very style of the page, in the page and as a header', () => {
    const page = html(example)
    const style = /<style>([\s\S]*?)<\/style>/.exec(page)![1]!
    const hash = createHash('sha256').update(style).digest('base64')
    const policy = CONTENT_SECURITY_POLICY
    expect(policy).toContain(`default-src 'none'; style-src 'sha256-${hash}'`)
    expect(page).toContain(policy.replaceAll("'", '&#39;'))
    expect(page.match(/<style/g)).toHaveLength(1)
  })

  it('the page needs nothing else: no script, no image, nothing loaded', () => {
    const page = html(example)
    expect(page).not.toMatch(/<(?:script|img|link|iframe|object|form|input|button)|\sstyle=|\son\w+=|url\(|@import/i)
  })
})

describe('Markdown', () => {
  /** What is left when all code is taken out: blocks first, then what stands in a line. */
  const prose = (text: string): string =>
    text.replace(/^(`{3,})\n[^\n]*\n\1$/gm, '').replace(/(?<![`\\])(`+)(?!`)(?:(?!\1)[^\n]|\1`)*?(?<!`)\1(?!`)/g, '')

  it.each(HOSTILE)('%j: %s', (text) => {
    for (const answer of [hostile(text), hostile(text, exampleOf(check))]) {
      const said = prose(markdown(answer))
      expect(said).not.toMatch(/(?<!\\)<[a-z!/?]/i) // HTML, and links in angle brackets
      expect(said).not.toMatch(/(?<!\\)!\[/) // images
      for (const [, target] of said.matchAll(/(?<!\\)\]\(([^)]*)\)/g)) expect(target).toMatch(/^https?:\/\/[^@\s]*$/)
      expect(said.replace(/\]\([^)]*\)/g, '')).not.toMatch(/(?<!\\):\/\/|www\.|(?<!\\)@/) // links out of bare text
      expect(said.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    }
  })

  it('a cell stays a cell', () => {
    for (const [text] of HOSTILE) {
      const tables = markdown(hostile(text))
        .split('\n\n')
        .filter((part) => part.startsWith('| '))
      for (const table of tables) {
        const widths = table.split('\n').map((row) => row.match(/(?<!\\)(?:\\\\)*\|/g)?.length)
        expect(new Set(widths).size, table).toBe(1)
      }
    }
  })
})

describe('Markdown of the other answers', () => {
  it.each(HOSTILE)('%j: %s', (text) => {
    const said = viewMarkdown({ text, rows: [{ text }] })
    expect(said).not.toMatch(/(?<!\\)<[a-z!/?]/i) // HTML, and links in angle brackets
    expect(said).not.toMatch(/(?<!\\)\]\(/) // links and images
    expect(said).not.toMatch(/(?<!\\):\/\/|www\.|(?<!\\)@/) // links out of bare text
  })
})

describe('the terminal', () => {
  it.each(HOSTILE)('%j: %s', (text) => {
    const named = { [text]: 'a', rows: [{ [text]: 'b' }] } // what a service answers may have any names
    for (const shown of [hostile(text), named].flatMap((answer) => [viewTable(answer), viewMarkdown(answer)])) {
      expect(shown.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    }
  })
})
