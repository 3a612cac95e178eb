import { html } from './html.ts'
import { csrfField, pageOf } from './layout.ts'
import type { Page, PageAnswer, Visit } from './page.ts'
import type { Parts } from './parts.ts'

/** `/login` and `/logout`: a key is entered once, and the session then represents it. */
export const loginPages = (parts: Parts): readonly Page[] => [
  { method: 'GET', path: '/login', scope: undefined, visit: async (visit) => form(parts, visit, 200) },
  {
    method: 'POST',
    path: '/login',
    scope: undefined,
    visit: async (visit) =>
      visit.logIn((visit.form.key ?? '').trim().slice(0, 512))
        ? { to: visit.form.to ?? '/' }
        : form(parts, visit, 401, 'This key is unknown or has expired.'),
  },
  {
    method: 'POST',
    path: '/logout',
    scope: undefined,
    visit: async (visit) => {
      visit.logOut()
      return { to: '/' }
    },
  },
]

function form(parts: Parts, visit: Visit, status: number, problem?: string): PageAnswer {
  if (visit.login === 'not_needed') return { to: '/' }
  return pageOf(parts, visit, {
    status,
    title: 'Log in',
    main: html`<main id="main" tabindex="-1"><h1>Log in</h1>${loginForm(visit, visit.form.to ?? visit.query.to ?? '/', problem)}</main>`,
  })
}

/** The form for a key; `to` is the page after the login. */
export const loginForm = (
  visit: Pick<Visit, 'token'>,
  to: string,
  problem?: string,
) => html`<form class="login" method="post" action="/login">${csrfField(visit)}
<input type="hidden" name="to" value="${to}">
<label for="key">API key</label>
<input id="key" name="key" type="password" required maxlength="512" autocomplete="current-password"${problem !== undefined && html` aria-invalid="true" aria-describedby="problem"`}>
${problem !== undefined && html`<p class="problem" id="problem" role="alert">${problem}</p>`}
<button>Log in</button>
<p class="quiet">Create keys with <code>mailsonde keys create</code>. The session ends after 12 hours without use, or when the service restarts.</p>
</form>`
