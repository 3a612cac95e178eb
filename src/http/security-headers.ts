import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import helmet from 'helmet'

/**
 * The security fields of every answer, by name, as helmet sets them. They depend on no request and are made once: making the policy anew for each answer costs
 * as much as all other work on the answer of `GET /v1/health`. A route sends a field of its own in place of one of these.
 */
export function securityHeaders(): Readonly<Record<string, string>> {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  const middleware = helmet({
    contentSecurityPolicy: { directives: { 'upgrade-insecure-requests': null } },
    hsts: false,
  })
  middleware(response.req, response, (error) => {
    if (error) throw error
  })
  return Object.fromEntries(Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]))
}
