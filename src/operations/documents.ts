import type { Document } from '../documents/block.ts'
import { formatHtml } from '../documents/html/html.ts'
import { CONTENT_SECURITY_POLICY } from '../documents/html/style.ts'
import { formatMarkdown } from '../documents/markdown/markdown.ts'
import { choiceParam } from './params.ts'

/** The formats of a document, by `format` over HTTP and `--format`. */
export const DOCUMENT_FORMATS = ['markdown', 'html'] as const
type DocumentFormat = (typeof DOCUMENT_FORMATS)[number]

export const isDocumentFormat = (format: string): format is DocumentFormat =>
  DOCUMENT_FORMATS.some((known) => known === format)

export const CONTENT_TYPES: Readonly<Record<DocumentFormat, string>> = {
  html: 'text/html; charset=utf-8',
  markdown: 'text/markdown; charset=utf-8',
}

/** A document as text. `headers` are fields of its HTTP answer, in addition to the usual ones or in their place. */
export type Rendered = {
  readonly contentType: string
  readonly headers?: Readonly<Record<string, string>>
  readonly text: string
}

export const render = (format: DocumentFormat, document: Document): Rendered =>
  format === 'html'
    ? {
        contentType: CONTENT_TYPES.html,
        headers: { 'content-security-policy': CONTENT_SECURITY_POLICY },
        text: formatHtml(document),
      }
    : { contentType: CONTENT_TYPES.markdown, text: formatMarkdown(document) }

export const formatParam = choiceParam(['json', 'html', 'markdown'], 'json', { description: 'format of the answer' })
