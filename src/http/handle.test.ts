import { expect, it } from 'vitest'
import { preferredForm } from './handle.ts'

it.each([
  [undefined, undefined],
  ['*/*', undefined], // curl: the answer's own form
  ['', undefined],
  ['application/json', 'json'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'html'],
  ['text/markdown, text/html;q=0.5', 'markdown'],
  ['text/html;q=0.2, application/json;q=0.9', 'json'],
  ['TEXT/HTML', 'html'],
  ['text/html;q=0', undefined],
  ['text/html;q=x', undefined],
  ['image/png', undefined],
  ['__proto__', undefined],
  [`text/html,${'x'.repeat(1_000)}`, undefined],
])('%j is %s', (accept, form) => expect(preferredForm(accept)).toBe(form))
