/** Charges of some categories and dates go to one folio. Null categories are all of them; null dates have no end on that side, and both are included. */
export type Route = {
  reservationId: string
  folioId: string
  categories: string[] | null
  from: string | null
  until: string | null
}

/** The facts of a charge that a route looks at: the category that it is sold in, and its night or day of service. */
export type Routed = { category: string; date: string }

const takes = ({ categories, from, until }: Route, { category, date }: Routed) =>
  (categories === null || categories.includes(category)) &&
  (from === null || from <= date) &&
  (until === null || date <= until)

/** Folio that takes a charge: that of the first route which matches and whose folio is open, else the primary one (R36). */
export const folioFor = (
  routes: readonly Route[],
  charge: Routed,
  isOpen: (folioId: string) => boolean,
  primaryId: string,
): string => routes.find((route) => takes(route, charge) && isOpen(route.folioId))?.folioId ?? primaryId
