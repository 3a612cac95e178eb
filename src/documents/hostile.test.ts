import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exampleOf } from '../../test/lab/answer.ts'
import { labDocuments } from '../../test/lab/documents.ts'
import { checkAnswer } from '../answers/check.ts'
import { readOpen } from '../answers/read-answer.ts'
import { check } from '../operations/check.ts'
import type { Document } from './block.ts'
import type { Answer } from './check/answer.ts'
import { checkDocument } from './check/check-document.ts'
import { formatHtml } from './html/html.ts'
import { CONTENT_SECURITY_POLICY } from './html/style.ts'
import { formatMarkdown } from './markdown/markdown.ts'
import { formatTerminal } from './terminal/terminal.ts'

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
  ['::error title=x::owned ##[error]owned ::add-mask::a', 'commands of build servers'],
  ['constructor', 'a name that every object has'],
  ['__proto__', 'a name that every object has'],
]
/** What GitHub Actions or Azure Pipelines take for a command. */
const COMMAND = /^\s*::|##(?:vso)?\[/m
const documents = Object.entries(await labDocuments())

/** What no answer can change: the schema, or the program, fixes it. */
const FIXED = /^(?:kind|mark|status|severity|look|id|level|stage)$/
const SIDES = new Set(['client', 'server', 'note'])

/** The document with every text replaced, in every field of every block. */
function filled<T>(value: T, text: string, key?: string): T
function filled(value: unknown, text: string, key = ''): unknown {
  if (typeof value === 'string') return FIXED.test(key) || SIDES.has(value) ? value : text
  if (Array.isArray(value)) return value.map((item) => filled(item, text, key))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, filled(item, text, name)]))
}
const hostile = (text: string): readonly Document[] => documents.map(([, document]) => filled(document, text))

/** An answer of a check with every free text replaced: what a hostile service could give. */
function hostileAnswer(text: string): Answer {
  const fixed =
    /^(?:kind|action|by|observed_at|type|component|discovery|policy|scope|(?:mx_)?status|mx_kind|grade|severity)$/
  const fill = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') return fixed.test(key) ? value : text
    if (Array.isArray(value)) return value.map((item) => fill(item, key))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [
        name,
        fill(item, key === 'domain_role' && name === 'name' ? 'kind' : name),
      ]),
    )
  }
  const read = readOpen(checkAnswer, fill(exampleOf(check), ''))
  if (!read.ok) throw new Error(read.problem.text)
  return read.value
}

const TAGS =
  /^<(?:!doctype html|\/?(?:html|head|body|main|header|footer|section|div|title|style|h[1-4]|p|ul|li|dl|dt|dd|pre|code|span|strong|b|a|svg|rect|ol|polyline|path|time|line|table|caption|thead|tbody|tfoot|tr|th|td|meta|details|summary))(?=[\s>/])/
const ATTRIBUTE =
  /^\s+(?:lang|charset|name|content|http-equiv|class|id|href|rel|role|tabindex|scope|aria-label|aria-hidden|data-head|focusable|viewBox|preserveAspectRatio|width|height|rx|x|y|x1|x2|y1|y2|d|datetime|points|open)="[^"<>]*"/

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
    for (const document of [...hostile(text), checkDocument(hostileAnswer(text), text)]) {
      const page = formatHtml(document)
      expect(foreign(page)).toEqual([])
      for (const [, href] of page.matchAll(/href="([^"]*)"/g)) expect(href).toMatch(/^(?:https?:\/\/[^@"<>]*|#[\w-]*)$/)
      expect(page.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    }
  })

  it('the text is there, as text', () => {
    const pages = hostile('<script>alert(1)</script>').map(formatHtml).join()
    expect(pages.split('&lt;script&gt;alert(1)&lt;/script&gt;').length).toBeGreaterThan(500)
  })

  it('any text at all', () => {
    const some = documents.filter(([name]) => /^(?:pictures|verify-failed-over|check-many-lookups)$/.test(name))
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const [, document] of some) expect(foreign(formatHtml(filled(document, text)))).toEqual([])
      }),
      { numRuns: 10 },
    )
  })

  it('the policy names the very style of the page, in the page and as a header', () => {
    for (const [, document] of documents) {
      const page = formatHtml(document)
      const style = /<style>([\s\S]*?)<\/style>/.exec(page)![1]!
      const hash = createHash('sha256').update(style).digest('base64')
      expect(CONTENT_SECURITY_POLICY).toContain(`default-src 'none'; style-src 'sha256-${hash}'`)
      expect(page).toContain(CONTENT_SECURITY_POLICY.replaceAll("'", '&#39;'))
      expect(page.match(/<style/g)).toHaveLength(1)
    }
  })

  it.each(documents)('%s needs nothing else: no script, no image, nothing loaded, no style of its own', (_, document) =>
    expect(formatHtml(document)).not.toMatch(
      /<(?:script|img|link|iframe|object|form|input|button)|\sstyle=|\son\w+=|url\(|@import/i,
    ),
  )
})

describe('Markdown', () => {
  /** What is left when all code is taken out: blocks first, then what stands in a line. */
  const prose = (text: string): string =>
    text
      .replace(/^(`{3,})\n[^`]*?\n\1$|^(`{3,})\n(?:(?!\2)[\s\S])*?\n\2$/gm, '')
      .replace(/(?<![`\\])(`+)(?!`)(?:(?!\1)[^\n]|\1`)*?(?<!`)\1(?!`)/g, '')

  it.each(HOSTILE)('%j: %s', (text) => {
    for (const document of hostile(text)) {
      const said = prose(formatMarkdown(document))
      expect(said).not.toMatch(/(?<!\\)<[a-z!/?]/i) // HTML, and links in angle brackets
      expect(said).not.toMatch(/(?<!\\)!\[/) // images
      for (const [, target] of said.matchAll(/(?<!\\)\]\(([^)]*)\)/g)) expect(target).toMatch(/^https?:\/\/[^@\s]*$/)
      expect(said.replace(/\]\([^)]*\)/g, '')).not.toMatch(/(?<!\\):\/\/|www\.|(?<!\\)@/) // links out of bare text
      expect(said.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      expect(formatMarkdown(document)).not.toMatch(COMMAND)
    }
  })

  it('a cell stays a cell', () => {
    for (const [text] of HOSTILE) {
      const tables = hostile(text)
        .flatMap((document) => formatMarkdown(document).split('\n\n'))
        .filter((part) => part.startsWith('| '))
      for (const table of tables) {
        const widths = table.split('\n').map((row) => row.match(/(?<!\\)(?:\\\\)*\|/g)?.length)
        expect(new Set(widths).size, table).toBe(1)
      }
    }
  })
})

describe('the terminal', () => {
  it.each(HOSTILE)('%j: %s', (text) => {
    for (const document of hostile(text)) {
      const seen = formatTerminal(document, { width: 80, colour: false, unicode: true })
      expect(seen.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      expect(seen).not.toMatch(COMMAND)
    }
  })

  it.each(HOSTILE)('%j: %s, with colours: no other escape sequence', (text) => {
    for (const document of hostile(text)) {
      const seen = formatTerminal(document, { width: 80, colour: true, unicode: true })
      expect(seen.replaceAll('\n', '').replace(/\u001b\[\d{1,2}m/g, '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    }
  })

  it.each(HOSTILE)('%j: %s, without UTF-8: ASCII alone', (text) => {
    for (const document of hostile(text))
      expect(formatTerminal(document, { width: 80, colour: false, unicode: false })).toMatch(/^[\n\x20-\x7e]*$/)
  })
})
