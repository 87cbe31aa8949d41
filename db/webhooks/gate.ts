/** The gate of an endpoint: while it is closed, one delivery at a time tries whether its receiver answers again. */
export const endpointGate = (endpointId: string): string => `webhook:${endpointId}`
