/** The permitted form of a node id. */
export const NODE_ID = /^[A-Za-z0-9._-]{1,64}$/
