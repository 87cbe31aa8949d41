import { Int, Matching, Nullable, SignedAmount, Text, Words } from '../../config/schema.ts'

export const path = '/api/tenants/:tenantId/inventory'

/** A decimal with up to 4 places, such as `0.75`. */
export const Quantity = Matching('^(0|[1-9][0-9]{0,7})(\\.[0-9]{1,4})?$', 13)
/** Of stock: also negative in lines of movements. */
export const Held = Matching('^-?[0-9]{1,12}(\\.[0-9]{1,4})?$', 20)
/** A measure of config/measures.ts, or a package of the item. */
export const Measure = Matching('^[A-Za-z0-9_]{1,20}$', 20)
export const Code = Matching('^[A-Z0-9._-]{1,30}$', 30)
/** Names a price of an outlet. */
export const PriceCode = Matching('^[A-Za-z0-9._-]{1,20}$', 20)
export const Name = Words(1, 120)
export const Note = Words(1, 500)
/** Minor units; null for roles that do not see what stock is worth. */
export const Value = Nullable(SignedAmount)
/** The value that a caller may state for a line, within what a ledger line holds. */
export const Cost = Int(0, 100_000_000_000)
export const Reference = Text(1, 100)
export const version = Int(0, 2_147_483_647)
