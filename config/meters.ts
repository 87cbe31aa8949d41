/** What is counted of a tenant's use, in the units that its plan or an add-on may price. */
export const meters = ['api.requests', 'channels.bookings'] as const
export type Meter = (typeof meters)[number]
