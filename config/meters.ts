/** Meters of a tenant's use, in the units that a plan or an add-on may price. */
export const meters = [
  'api.requests',
  'channels.bookings',
  'messages.email',
  'messages.phone',
  'storage.gigabytes',
] as const
export type Meter = (typeof meters)[number]
