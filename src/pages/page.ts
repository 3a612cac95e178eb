import type { AppError } from '../base/errors.ts'
import type { By } from '../operations/execute.ts'
import type { Scope } from '../store/key-file.ts'
import type { Html } from './html.ts'

/** How a visitor stands: no key is in force here, logged in, or logged out while keys are in force. */
export type Login = 'not_needed' | 'in' | 'out'

/** One visit of a page, as its adapter read it. */
export type Visit = {
  /** Parameters of the path, decoded. */
  readonly params: Readonly<Record<string, string>>
  /** Parameters of the query, the first of each name, without those that are empty: an empty field of a form is one left out. */
  readonly query: Readonly<Record<string, string>>
  /** Fields of a submitted form; empty for a GET. */
  readonly form: Readonly<Record<string, string>>
  /** The path with its query, as it was asked for. */
  readonly url: string
  /** Who asks, as operations see it, and the signal of a visitor that goes away. */
  readonly by: By
  /** Who asks, as the rate sees it: what is remembered for one caller is shown to no other. */
  readonly who: string
  readonly login: Login
  /** Whether the visitor may do what needs a scope. */
  readonly may: (scope: Scope) => boolean
  /** The token that forms of this visitor carry as `_csrf`. */
  readonly token: string
  /** A link of another site led here: the page asks nothing. */
  readonly isFromElsewhere: boolean
  /** Begins a session with a key; false: no such key is in force. */
  readonly logIn: (key: string) => boolean
  readonly logOut: () => void
  /** The body of an upload, read as it comes; where the page takes one. */
  readonly upload?: AsyncIterable<Uint8Array>
  /** The Content-Type of the body. */
  readonly contentType: string
}

/** One server-sent event. */
export type PageEvent = { readonly event: string; readonly data: object }

/** What a visit is answered with. `to` is a path of this site. */
export type PageAnswer =
  | { readonly status: number; readonly html: string }
  | { readonly to: string }
  | { readonly events: AsyncIterable<PageEvent> }

export type Page = {
  readonly method: 'GET' | 'POST'
  /** As a router writes it: `/domain/:name`. */
  readonly path: string
  /** The scope that a visitor needs while keys are in force; undefined: everybody may see it, and it costs no more than its HTML. */
  readonly scope: Scope | undefined
  /** Bytes of a form; 64 KiB where it is left out. */
  readonly bodyLimit?: number
  /** The body is read by the page as it comes. */
  readonly uploads?: true
  readonly visit: (visit: Visit) => Promise<PageAnswer>
}

/** A file that is the same for everybody; its path changes with its content. */
export type StaticFile = { readonly path: string; readonly type: string; readonly body: Buffer }

/** A request that was refused, for people. */
export type Refused = {
  readonly error: AppError
  /** The id of the request, as in the log. */
  readonly instance: string
}

/** All pages, for the adapter that serves them. */
export type Site = {
  readonly pages: readonly Page[]
  readonly files: readonly StaticFile[]
  readonly refusal: (refused: Refused, visit: Pick<Visit, 'url' | 'login' | 'may' | 'token'>) => string
  /** How the answer of an operation that people open by its own path is shown within the frame of this site; undefined where it is sent as it is. */
  readonly framed: (operation: string) => ((visit: Visit) => Promise<PageAnswer>) | undefined
  /** The page that shows what an operation answers; undefined where there is none. */
  readonly pathFor: (operation: string, raw: Readonly<Record<string, unknown>>) => string | undefined
}

/** The Content-Security-Policy of every page: scripts and styles of this site alone, none in the page itself, and no frame around it. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** A page that has words to say. */
export type Content = { readonly title: string; readonly main: Html }
