import type { Answer } from '../report/render/answer.ts'
import { reportDocument } from '../report/render/document.ts'
import { formatHtml } from '../report/render/html.ts'
import { formatMarkdown } from '../report/render/markdown.ts'
import { CONTENT_SECURITY_POLICY } from '../report/render/style.ts'
import type { Document } from './given.ts'
import { choiceParam } from './params.ts'

/** The forms of a check or a report beside JSON: one page that stands by itself, and Markdown. */
export const reportDocuments = {
  html: {
    contentType: 'text/html; charset=utf-8',
    headers: { 'content-security-policy': CONTENT_SECURITY_POLICY },
    render: (answer, { version }) => formatHtml(reportDocument(answer, version)),
  },
  markdown: {
    contentType: 'text/markdown; charset=utf-8',
    render: (answer, { version }) => formatMarkdown(reportDocument(answer, version)),
  },
} as const satisfies Readonly<Record<string, Document<Answer>>>

export const formatParam = choiceParam(['json', 'html', 'markdown'], 'json', { description: 'form of the answer' })
