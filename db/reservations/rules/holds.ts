const minute = 60_000
const hour = 60 * minute

/** The longest life of a hold, from its beginning, while a guest pays by a method. */
export const holdLifeMs = (method: string, paymentMaxHours: number): number => {
  if (method === 'pix') return 90 * minute
  if (method === 'boleto') return paymentMaxHours * hour
  return 45 * minute
}

export type HoldTimes = { createdAt: Date; holdExpiresAt: Date; holdCapAt: Date }

/** The end and the cap of a hold whose payment the gateway has accepted until then. Neither ever moves back. */
export const extendedHold = (
  hold: HoldTimes,
  method: string,
  until: Date,
  paymentMaxHours: number,
): { expiresAt: Date; capAt: Date } => {
  const capAt = Math.max(hold.holdCapAt.getTime(), hold.createdAt.getTime() + holdLifeMs(method, paymentMaxHours))
  return {
    expiresAt: new Date(Math.max(hold.holdExpiresAt.getTime(), Math.min(until.getTime(), capAt))),
    capAt: new Date(capAt),
  }
}

/** Units of a pool that unpaid portal holds may take on one night: a share of the capacity in basis points, at least 3. */
export const holdAllowance = (capacity: number, holdShare: number): number =>
  Math.min(capacity, Math.max(3, Math.ceil((capacity * holdShare) / 10_000)))
