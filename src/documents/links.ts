/** The URL of a link that may be followed: http or https without a user name, at most 2,048 characters; otherwise undefined. */
export function safeLink(href: string): string | undefined {
  const url = href.length > 2_048 ? null : URL.parse(href)
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.username !== '' || url.password !== '')
    return undefined
  return url.href
}

/** A part of the same document: `#` and a name that is safe in an attribute. */
export const isPart = (href: string): boolean => /^#[a-z][a-z0-9_-]{0,60}$/.test(href)
