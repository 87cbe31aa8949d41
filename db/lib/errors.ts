import { ApiError, conflict, forbidden, invalid, unavailable, unprocessable } from '../../config/errors.ts'
import type { FieldError } from '../../config/errors.ts'
import { isUnreachable, nativeError } from './connection.ts'

type Failure = Error & { code: string; constraint?: string; column?: string; table?: string; detail?: string }

const isFailure = (error: unknown): error is Failure =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && /^[0-9A-Z]{5}$/.test(error.code)

const ofOneself = () => forbidden('self_approval', 'The author of a document cannot approve it; another person can')

/** Errors of broken constraints by name. A name that is not here falls back to its SQLSTATE. */
const constraints: Record<string, () => ApiError> = {
  pool_night_within_capacity: () => conflict('sold_out', 'A night of the stay is sold out'),
  unit_assignment_no_overlap: () => conflict('unit_conflict', 'The unit is taken by another stay or a block'),
  installments_equal: () =>
    unprocessable('installments_not_equal', 'The installments do not add up to what they divide'),
  receivable_installment_limit: () => unprocessable('amount_exceeds_open', 'The amount is more than is open'),
  payable_installment_limit: () => unprocessable('amount_exceeds_open', 'The amount is more than is open'),
  receivable_limit: () => unprocessable('amount_exceeds_open', 'The amount is more than is open'),
  receipt_limit: () => unprocessable('amount_exceeds_available', 'The amount is more than is available of the receipt'),
  credit_note_within: () => unprocessable('credit_exceeds_invoice', 'More would be credited than the document was'),
  receivable_line_folio_once: () => conflict('folio_already_billed', 'A document bills the folio'),
  receivable_line_stay_once: () => conflict('folio_already_billed', 'A document bills the stay'),
  customer_document: () => conflict('duplicate_customer', 'Another customer has this tax number'),
  customer_guest_once: () => conflict('duplicate_customer', 'Another customer is this guest'),
  number_series_grows: () => unprocessable('number_not_growing', 'A next number only grows'),
  payment_refund_limit: () => unprocessable('amount_exceeds_refundable', 'The refund exceeds what can be refunded'),
  payment_allocation_limit: () =>
    unprocessable('allocation_exceeds_captured', 'More would be allocated than was captured'),
  payment_capture_limit: () => unprocessable('amount_exceeds_authorised', 'More would be captured than was authorised'),
  payable_once: () => conflict('duplicate_payable', 'A bill of this payee has this number'),
  payable_fiscal_key_once: () => conflict('duplicate_payable', 'A bill has this fiscal key'),
  payable_two_people: ofOneself,
  payable_payment_two_people: ofOneself,
  supplier_bank_details_two_people: ofOneself,
  purchase_order_two_people: ofOneself,
  purchase_order_no_editor: ofOneself,
  cash_transfer_other_person: ofOneself,
  cash_session_approved: ofOneself,
  compensation_two_people: ofOneself,
  journal_entry_approved: ofOneself,
  entry_draft_other_person: ofOneself,
  entry_draft_no_editor: ofOneself,
  budget_other_person: ofOneself,
  budget_no_editor: ofOneself,
  fiscal_period_other_person: ofOneself,
  fiscal_year_other_person: ofOneself,
  payable_item_in_payment: () => conflict('installment_in_payment', 'A payment of the installment is under way'),
  supplier_document: () => conflict('duplicate_supplier', 'Another supplier has this tax number'),
  supplier_credit_once: () => conflict('duplicate_credit', 'A credit note of this payee has this number'),
  credit_limit: () => unprocessable('credit_exceeded', 'The amount is more than is available of the credit'),
  purchase_order_line_received: () => unprocessable('over_receipt', 'More would be received than the order allows'),
  purchase_order_line_billed: () => unprocessable('over_billed', 'More would be billed than was ordered or received'),
  posting_event_reverses_key: () => conflict('already_reversed', 'It was reversed before'),
  journal_entry_reverses_key: () => conflict('already_reversed', 'The entry was reversed before'),
  tax_rule_one_at_a_time: () => unprocessable('tax_rule_overlap', 'A rule of this code is valid in that time'),
  book_document: () => conflict('duplicate_code', 'Another book has this document'),
  book_document_index: () => conflict('duplicate_code', 'Another book has this document'),
  journal_code_key: () => conflict('duplicate_code', 'This code is taken'),
  account_code_key: () => conflict('duplicate_code', 'This code is taken'),
  cost_center_code_key: () => conflict('duplicate_code', 'This code is taken'),
  tax_code_key: () => conflict('duplicate_code', 'This code is taken'),
  tax_rate_apart: () => conflict('overlap', 'A later rate stands already'),
  posting_rule_apart: () => conflict('overlap', 'A rule for the same line is valid in that time'),
  property_code: () => conflict('duplicate_code', 'This code is taken'),
  property_slug: () => conflict('duplicate_code', 'This slug is taken'),
  age_category_code: () => conflict('duplicate_code', 'This code is taken'),
  season_code: () => conflict('duplicate_code', 'This code is taken'),
  season_range_one_at_a_time: () => unprocessable('seasons_overlap', 'Ranges of seasons overlap'),
  policy_code: () => conflict('duplicate_code', 'This code is taken'),
  rate_plan_code: () => conflict('duplicate_code', 'This code is taken'),
  extra_code: () => conflict('duplicate_code', 'This code is taken'),
  booking_group_code: () => conflict('duplicate_code', 'This code is taken'),
  issue_category_code: () => conflict('duplicate_code', 'This code is taken'),
  promo_code_code: () => conflict('duplicate_code', 'This code is taken'),
  gallery_image_url: () => conflict('duplicate_code', 'This image is there already'),
  app_user_email_key_key: () => conflict('email_taken', 'Somebody else has this address'),
  api_key_live_name: () => conflict('duplicate_name', 'Another key has this name'),
  unit_type_code: () => conflict('duplicate_code', 'This code is taken'),
  unit_pool_name: () => conflict('duplicate_name', 'Another pool has this name'),
  unit_name: () => conflict('duplicate_name', 'This name is taken'),
  company_tax_id: () => conflict('duplicate_company', 'Another firm has this tax number'),
  guest_document_once: () => conflict('duplicate_document', 'The guest has this document'),
  guest_block_in_force: () =>
    unprocessable('already_blocked', 'The guest is on the blocklist of this property; lift that block first'),
  privacy_request_open: () => conflict('privacy_request_open', 'A request of this kind is open'),
  membership_one: () => conflict('member_exists', 'This person is a member already'),
  membership_last_owner: () => unprocessable('last_owner', 'The tenant needs an active owner of all its properties'),
  role_key: () => conflict('duplicate_key', 'A role with this key exists already'),
  cash_account_code: () => conflict('duplicate_code', 'This code is taken'),
  cash_account_ledger_alone: () =>
    unprocessable('ledger_account_taken', 'Another bank or acquirer account has this ledger account'),
  cash_movement_reversed_once: () => conflict('already_reversed', 'The movement was reversed before'),
  cash_session_register_open: () => conflict('session_open', 'The register has an open session'),
  cash_session_cashier_open: () => conflict('session_open', 'The cashier has an open session'),
  payment_terminal_reference: () => conflict('duplicate_reference', 'This receipt of the terminal is recorded already'),
  booking_external_reference_once: () => conflict('duplicate_reference', 'Another booking has this reference'),
  inventory_category_code: () => conflict('duplicate_code', 'This code is taken'),
  inventory_location_code: () => conflict('duplicate_code', 'This code is taken'),
  recipe_code: () => conflict('duplicate_code', 'Another recipe has this code'),
  recipe_output_item: () => conflict('duplicate_code', 'Another preparation makes this item'),
  outlet_code: () => conflict('duplicate_code', 'This code is taken'),
  inventory_item_sku: () => conflict('duplicate_code', 'Another item has this SKU'),
  inventory_item_barcode: () => conflict('duplicate_code', 'Another item has this barcode'),
  inventory_item_fixed: () => unprocessable('locked_field', 'The base and packages of an item that moved are fixed'),
  inventory_count_line_once: () => conflict('item_being_counted', 'Another open count holds the item'),
  inventory_stock_largest: () =>
    unprocessable('rule_violated', 'A location holds no more of an item than 99,999,999.9999'),
  stock_not_negative: () => unprocessable('insufficient_stock', 'There is not enough stock'),
  promo_code_limit: () => unprocessable('promo_code_invalid', 'The promo code cannot be used'),
}

const contended = () =>
  new ApiError('inventory_contended', 'Another change of the same records takes too long; repeat the request', {
    retryAfterSeconds: 1,
  })

/**
 * The field of a record that is not there, by the name that PostgreSQL gives a foreign key: table, tenant and columns. None where a row that is still in use
 * would go.
 */
const missingField = ({ message, table = '', constraint = '' }: Failure): FieldError[] | undefined => {
  if (!/insert or update on table "[^"]+" violates foreign key/.test(message)) return undefined
  const [, column] = /^(?:tenant_id_)?(.+?_id)(?:_.+)?_fkey$/.exec(constraint.replace(`${table}_`, '')) ?? []
  if (column === undefined) return undefined
  const field = column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return [{ field, message: 'does not exist' }]
}

/** Errors by SQLSTATE; PL… are raised by our own triggers. */
const states: Record<string, (failure: Failure) => ApiError> = {
  '23505': () => conflict('duplicate', 'A record with these values exists already'),
  '40001': () => contended(),
  '40P01': () => contended(),
  '23503': (failure) =>
    unprocessable(
      'reference_not_found',
      'A record that the request names does not exist, or is still in use',
      missingField(failure),
    ),
  '23514': () => unprocessable('rule_violated', 'A value is outside of what is allowed'),
  '23P01': () => conflict('overlap', 'It overlaps with another record'),
  '22P02': () => invalid([], 'validation_failed', 'A value has the wrong form'),
  '22003': () => invalid([], 'validation_failed', 'A number is out of range'),
  '22007': () => invalid([], 'validation_failed', 'A date or time has the wrong form'),
  '22008': () => invalid([], 'validation_failed', 'A date or time is out of range'),
  '22009': () => invalid([], 'validation_failed', 'An offset of time is out of range'),
  '22021': () => invalid([], 'validation_failed', 'A text holds characters that cannot be stored'),
  '22P05': () => invalid([], 'validation_failed', 'A text holds characters that cannot be stored'),
  '57014': () => unavailable('The request took too long'),
  '55P03': () => contended(),
  PL002: () => unprocessable('period_missing', 'No fiscal period of the book holds the date'),
  PL004: () => unprocessable('period_closed', 'The period is closed'),
  PL005: () => unprocessable('date_locked', 'The date is locked'),
  PL007: () => unprocessable('entry_not_balanced', 'Debits and credits differ'),
  PL008: () => unprocessable('account_not_usable', 'An account cannot be posted to'),
  PL009: () => unprocessable('entry_not_balanced', 'An entry needs its lines'),
  PL012: () => conflict('business_day_changed', 'The business day rolled meanwhile; repeat the request'),
  PL013: () => conflict('invalid_transition', 'The record cannot make this move'),
  PL014: () => unprocessable('period_order', 'Periods close in order'),
  PL015: () => unprocessable('postings_waiting', 'Postings of the period are still waiting'),
  PL073: () => unprocessable('in_use', 'The movement is matched with the bank, or reversed'),
  PL076: () => conflict('movement_reconciled', 'The statement of the movement is reconciled; reopen it first'),
  PL077: () => unprocessable('match_not_equal', 'The matches of a line come to its amount'),
  PL074: () => unprocessable('ledger_account_not_cash', 'The ledger account is no account of money'),
  PL016: () => unprocessable('balance_not_zero', 'The account still has a balance'),
}

/** Maps a database error to a reply; null if it is unforeseen, and the reply is a 500. */
export const fromDatabase = (thrown: unknown): ApiError | null => {
  if (isUnreachable(thrown)) return unavailable()
  const error = nativeError(thrown)
  if (!isFailure(error)) return null
  const named = error.constraint ? constraints[error.constraint] : undefined
  return named?.() ?? states[error.code]?.(error) ?? null
}

const contentions: ReadonlySet<string> = new Set([
  'inventory_contended',
  'ledger_busy',
  'folio_busy',
  'cash_busy',
  'receivable_busy',
  'payment_busy',
  'stock_busy',
  'business_day_changed',
])

/** Tells whether another change of the same records came first: the call itself is in order, and passes after it. */
export const isContended = ({ code }: ApiError): boolean => contentions.has(code)

/** Tells whether the same call may pass in a moment: a part is down, or another change came first. */
export const isMomentary = (error: ApiError): boolean => error.status >= 500 || isContended(error)
