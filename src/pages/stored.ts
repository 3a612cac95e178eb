import { ownAnswer, readOpen } from '../answers/read-answer.ts'
import { historyAnswer, type StoredAnswer, storedAnswer } from '../answers/stored.ts'
import { AppError } from '../base/errors.ts'
import { htmlBlocks } from '../documents/html/html.ts'
import { type Html, html, rendered } from './html.ts'
import { csrfField, pageOf } from './layout.ts'
import type { Page, PageAnswer, Visit } from './page.ts'
import { documentOf, type Parts } from './parts.ts'
import { addressPath, domainPath, ipPath } from './paths.ts'

/** The targets of `/r/{id}` in addition to its own page, which {@link showStored} creates. */
export const storedPages = (parts: Parts): readonly Page[] => [
  {
    method: 'POST',
    path: '/r/:id/delete',
    scope: 'read',
    visit: async ({ params, by }) => {
      await parts.execute(parts.operation('saved delete'), { id: params.id }, by)
      return { to: '/' }
    },
  },
]

/** `/r/{id}`: a stored answer, unchanged, with its date. Readers without a key see it too, with masked mailboxes. */
export async function showStored(parts: Parts, visit: Visit): Promise<PageAnswer> {
  const { params, query, by } = visit
  const given = await parts.execute(parts.operation('saved show'), { ...query, id: params.id }, by)
  const stored = ownAnswer(storedAnswer, given.answer)
  const { id } = stored
  const subject = subjectOf(stored)
  const { title, blocks, footer } = documentOf(parts, given, 'Stored answer')
  const path = `/r/${encodeURIComponent(id)}`
  return pageOf(parts, visit, {
    title,
    main: html`<main id="main" tabindex="-1">${rendered(htmlBlocks(blocks))}
<div class="actions">${subject?.page(visit)}${(await isOwn(parts, visit, id, subject)) && html`<form method="post" action="${path}/delete">${csrfField(visit)}<button class="danger">Delete this stored answer</button></form>`}</div>
<footer>${rendered(htmlBlocks(footer.map((line) => ({ kind: 'text', line, quiet: true }))))}
<p class="quiet">The same <a href="${path}?format=json">as JSON</a> · <a href="${path}?format=markdown">as Markdown</a> · <a href="${path}?format=html">as one file</a></p></footer></main>`,
  })
}

/** The subject of an answer: the parameter of the history that finds it, and the page that repeats the question. */
type Subject = { readonly raw: Readonly<Record<string, string>>; readonly page: (visit: Pick<Visit, 'login'>) => Html }

function subjectOf(answer: StoredAnswer): Subject | undefined {
  const { kind, domain, email, ip } = answer
  const again = (to: string): Html => html`<a class="button" href="${to}">Check again</a>`
  if (kind === 'verify')
    return typeof email === 'string'
      ? // Its mailbox is masked for readers who are not logged in.
        { raw: { email }, page: ({ login }) => (login === 'out' ? html`` : again(addressPath(email))) }
      : undefined
  if (kind === 'blacklist') return typeof ip === 'string' ? { raw: { ip }, page: () => again(ipPath(ip)) } : undefined
  const only = kind === 'report' ? {} : { only: 'check' }
  return typeof domain === 'string' ? { raw: { domain }, page: () => again(domainPath(domain, only)) } : undefined
}

/** Maximum number of recent answers about one subject among which the visitor's own are searched. */
const MAX_OWN = 200

/** Whether the visitor may remove the answer: the one who stored it, or an admin. */
async function isOwn(
  { execute, operation }: Parts,
  { login, may, by }: Visit,
  id: string,
  subject: Subject | undefined,
): Promise<boolean> {
  if (login === 'out' || !may('read')) return false
  if (may('admin')) return true
  if (!subject) return false
  try {
    const given = await execute(operation('history'), { ...subject.raw, limit: String(MAX_OWN) }, by)
    const own = readOpen(historyAnswer, given.answer)
    return own.ok && own.value.data.some((entry) => entry.id === id)
  } catch (error) {
    if (error instanceof AppError) return false // a subject that the history does not support
    throw error
  }
}
