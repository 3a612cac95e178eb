import type { Inline, Line, Marked } from '../block.ts'
import { isPart, safeLink } from '../links.ts'
import { SIGNS } from '../signs.ts'
import { inWords } from '../times.ts'
import { SEVERITY_WORDS, STATUS_WORDS, wordsFor } from '../words.ts'
import { escapeMarkdown, inlineCode } from './markdown-text.ts'

export const inlines = (line: Line): string => line.map(inline).join('')

export const marked = ({ mark, text }: Marked): string => `${SIGNS[mark]} ${escapeMarkdown(text)}`

function inline(one: Inline): string {
  if (typeof one === 'string') return escapeMarkdown(one)
  if ('code' in one) return inlineCode(one.code)
  if ('strong' in one) return `**${escapeMarkdown(one.strong.trim())}**${one.strong.endsWith(' ') ? ' ' : ''}`
  if ('link' in one) return link(one.link, one.text)
  if ('status' in one) return `(${STATUS_WORDS[one.status]})`
  if ('time' in one) return escapeMarkdown(inWords(one.time))
  if ('severity' in one) return wordsFor(SEVERITY_WORDS, one.severity) ?? escapeMarkdown(one.severity)
  return marked(one)
}

/** Parts of the document have no link target in Markdown: their name is enough. */
function link(href: string, text: string): string {
  const url = isPart(href) ? undefined : safeLink(href)
  if (url === undefined) return escapeMarkdown(text)
  const target = url.replace(/[<>()|\\`\s]/g, (character) => encodeURIComponent(character).replace(/[()]/g, hex))
  return `[${escapeMarkdown(text)}](${target})`
}

const hex = (character: string): string => `%${character.charCodeAt(0).toString(16)}`
