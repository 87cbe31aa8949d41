/** Kinds of personal data that a column holds. */
export type Category =
  | 'identity'
  | 'contact'
  | 'document'
  | 'image'
  | 'free_text'
  | 'payment'
  | 'technical'
  | 'credential'
/** Why it may be held (LGPD, articles 7, 11 and 16). */
export type Basis = 'contract' | 'legal_obligation' | 'claims' | 'legitimate_interest' | 'consent'
/**
 * The effect of a guest's erasure on a table. `seal`: the guest's key, which sealed the column, is destroyed. `null`: the column is emptied. `delete row`: the
 * row is deleted. `keep until`: the row is kept for its basis, and goes when `until` says. `elsewhere`: the row is no guest's, and goes with the user, the
 * firm, the tenant or its time.
 */
export type Erasure = 'seal' | 'null' | 'delete row' | 'keep until' | 'elsewhere'

export type PersonalTable = {
  table: string
  columns: Readonly<Record<string, Category>>
  basis: Basis
  erasure: Erasure
  /** SQL condition on `t`, the table: its rows about guests whose ids are `:ids`. */
  guests?: string
  /** Columns that the erasure sets, with SQL of a row `t` and of `:ids`; all `columns` to null where it is left out. */
  set?: Readonly<Record<string, string>>
  /** Narrows the rows that are erased; the others are kept. */
  only?: string
  /** The event that ends the time for which rows are kept. */
  until?: string
}

const ofGuest = 't.guest_id = any(:ids::uuid[])'
const ofBooker = 't.booker_guest_id = any(:ids::uuid[])'
const ofStay = `t.reservation_id in (select r.id from reservation r where r.primary_guest_id = any(:ids::uuid[]))`
const ofBooking = `select b.id from booking b where b.booker_guest_id = any(:ids::uuid[])`
const folioOf = `select f.id from folio f left join reservation r on r.tenant_id = f.tenant_id and r.id = f.reservation_id
  where f.payer_guest_id = any(:ids::uuid[]) or r.primary_guest_id = any(:ids::uuid[])`

/** Condition on a payment, named by its alias: it is for a stay, a booking or a folio of guests whose ids are `:ids`. */
const paymentOf = (p: string): string =>
  `((${p}.target_type = 'reservation' and ${p}.target_id in (select r.id from reservation r where r.primary_guest_id = any(:ids::uuid[])))
    or (${p}.target_type = 'booking' and ${p}.target_id in (${ofBooking})) or (${p}.target_type = 'folio' and ${p}.target_id in (${folioOf})))`

/** Every revision of a booking of a channel, also those that were never applied, and name no booking: the guest booked it, or stayed on it. */
const ofChannelBooking = `exists (select from booking b where b.tenant_id = t.tenant_id and b.channel_connection_id = t.channel_connection_id
  and b.external_id = t.external_id and (b.booker_guest_id = any(:ids::uuid[]) or exists (select from reservation r
    join reservation_guest n on n.tenant_id = r.tenant_id and n.reservation_id = r.id and n.guest_id = any(:ids::uuid[])
    where r.tenant_id = b.tenant_id and r.booking_id = b.id)))`

/** Ids of issues about guests whose ids are `:ids`. One that names no guest is theirs by the stay or the payment that it is about. */
export const issuesOfGuests = `select i.id from issue i where i.guest_id = any(:ids::uuid[])
  union all select i.id from reservation r join issue i on i.tenant_id = r.tenant_id and i.reservation_id = r.id
    where r.primary_guest_id = any(:ids::uuid[]) and i.guest_id is null
  union all select i.id from payment p join issue i on i.tenant_id = p.tenant_id and i.payment_id = p.id
    where ${paymentOf('p')} and i.guest_id is null`
const ofIssue = `t.issue_id in (${issuesOfGuests})`

/** Ids of lost items of guests whose ids are `:ids`. One that names no guest is theirs by the stay. */
export const itemsOfGuests = `select l.id from lost_item l where l.guest_id = any(:ids::uuid[])
  union all select l.id from reservation r join lost_item l on l.tenant_id = r.tenant_id and l.reservation_id = r.id
    where r.primary_guest_id = any(:ids::uuid[]) and l.guest_id is null`

/**
 * Ids of messages to and from guests whose ids are `:ids`. One that names no guest is theirs by its conversation, or by the stay, the issue or the payment
 * that it is about: a hold has no profile yet, and a stranger who wrote is named later.
 */
export const messagesOfGuests = `select m.id from message m where m.guest_id = any(:ids::uuid[])
  union all select m.id from conversation c join message m on m.tenant_id = c.tenant_id and m.conversation_id = c.id
    where c.guest_id = any(:ids::uuid[]) and m.guest_id is null
  union all select m.id from reservation r join booking b on b.tenant_id = r.tenant_id and b.id = r.booking_id
    join message m on m.tenant_id = r.tenant_id and m.reservation_id = r.id
    where coalesce(r.primary_guest_id, b.booker_guest_id) = any(:ids::uuid[]) and m.guest_id is null
  union all select m.id from issue i join message m on m.tenant_id = i.tenant_id and m.issue_id = i.id
    where i.guest_id = any(:ids::uuid[]) and m.guest_id is null
  union all select m.id from payment p join message m on m.tenant_id = p.tenant_id and m.payment_id = p.id
    where ${paymentOf('p')} and m.guest_id is null`

/**
 * Every column of the service with personal data. Erasures go through the tables in this order; exports, masks and the redaction of logs follow it, too. A
 * guard test compares it with the schema: a column of a telling name that is in neither list fails.
 */
export const personalData: readonly PersonalTable[] = [
  {
    table: 'guest',
    columns: {
      first_name: 'identity',
      last_name: 'identity',
      preferred_name: 'identity',
      name_search: 'identity',
      name_index: 'identity',
      birth_index: 'identity',
      nationality: 'identity',
      residence_country: 'identity',
      email_index: 'contact',
      phone_index: 'contact',
      phone_tail_index: 'contact',
      sealed: 'contact',
    },
    basis: 'contract',
    erasure: 'seal',
    guests: 't.id = any(:ids::uuid[])',
  },
  {
    table: 'reservation_guest',
    columns: { kinship: 'identity', authorisation_document_id: 'document' },
    basis: 'contract',
    erasure: 'null',
    // The document of a guest may authorise the stay of another one, a minor, whose own data stay.
    guests: `(${ofGuest} or t.authorisation_document_id in (select d.id from guest_document d where d.guest_id = any(:ids::uuid[])))`,
    set: { kinship: `case when ${ofGuest} then null else t.kinship end`, authorisation_document_id: 'null' },
  },
  {
    table: 'guest_document_file',
    columns: { blob_id: 'image', sha256: 'image' },
    basis: 'legal_obligation',
    erasure: 'delete row',
    guests: ofGuest,
  },
  {
    table: 'guest_document',
    columns: { sealed: 'document', number_index: 'document', reject_reason: 'free_text' },
    basis: 'legal_obligation',
    erasure: 'delete row',
    guests: ofGuest,
  },
  { table: 'guest_note', columns: { sealed: 'free_text' }, basis: 'contract', erasure: 'delete row', guests: ofGuest },
  {
    table: 'guest_duplicate',
    columns: { matches: 'identity' },
    basis: 'legitimate_interest',
    erasure: 'delete row',
    guests: '(t.guest_a = any(:ids::uuid[]) or t.guest_b = any(:ids::uuid[]))',
  },
  {
    table: 'guest_merge',
    columns: { sealed: 'identity', reason: 'free_text', undo_reason: 'free_text' },
    basis: 'legitimate_interest',
    erasure: 'null',
    guests: '(t.survivor_id = any(:ids::uuid[]) or t.merged_id = any(:ids::uuid[]))',
    set: { sealed: 'null', reason: `'erased'`, undo_reason: `case when t.undone_at is not null then 'erased' end` },
  },
  {
    table: 'guest_consent',
    columns: { sealed: 'free_text' },
    basis: 'legal_obligation',
    erasure: 'keep until',
    guests: ofGuest,
    until: 'the end of the tenant; its evidence is unreadable',
  },
  {
    table: 'guest_block',
    columns: { sealed: 'free_text', document_indexes: 'document', lift_reason: 'free_text' },
    basis: 'legitimate_interest',
    erasure: 'null',
    guests: ofGuest,
    set: { document_indexes: `'{}'`, lift_reason: `case when t.lifted_at is not null then 'erased' end` },
    only: `(t.level = 'warn' or t.lifted_at is not null)`,
    until: 'the end of the block, or two years after the erasure',
  },
  {
    table: 'booking',
    columns: { sealed: 'contact', email_index: 'contact', address_hash: 'technical', external_reference: 'free_text' },
    basis: 'contract',
    erasure: 'null',
    guests: ofBooker,
    // Tokens by which the guest could see the booking end, too.
    set: {
      sealed: 'null',
      email_index: 'null',
      address_hash: 'null',
      external_reference: 'null',
      guest_tokens_valid_from: 'case when t.email_index is null then t.guest_tokens_valid_from else now() end',
    },
  },
  {
    table: 'guest_access_code',
    columns: { address_hash: 'technical' },
    basis: 'legitimate_interest',
    erasure: 'null',
    guests: `t.booking_id in (${ofBooking})`,
  },
  {
    table: 'reservation',
    columns: { requests: 'free_text' },
    basis: 'contract',
    erasure: 'null',
    guests: 't.primary_guest_id = any(:ids::uuid[])',
  },
  {
    table: 'reservation_note',
    columns: { sealed: 'free_text' },
    basis: 'contract',
    erasure: 'delete row',
    guests: ofStay,
  },
  {
    table: 'reservation_event',
    columns: { reason: 'free_text', override: 'free_text' },
    basis: 'contract',
    erasure: 'null',
    guests: ofStay,
    // Cancellations and moves begin with a code, which says nothing of the person.
    set: {
      reason: `case when t.transition in ('T10', 'T11') or t.command = 'move' then split_part(t.reason, ': ', 1)
        when t.reason is not null then 'erased' end`,
      override: `t.override || '{"reason":"erased"}'`,
    },
  },
  {
    table: 'issue_comment',
    columns: { sealed: 'free_text' },
    basis: 'contract',
    erasure: 'null',
    guests: ofIssue,
    until: 'issues.keepTextMonths after closing',
  },
  { table: 'issue_event', columns: { sealed: 'free_text' }, basis: 'contract', erasure: 'null', guests: ofIssue },
  {
    table: 'compensation',
    columns: { sealed: 'free_text', decision_sealed: 'free_text' },
    basis: 'contract',
    erasure: 'null',
    guests: ofIssue,
  },
  {
    table: 'issue',
    columns: { sealed: 'free_text', resolution_sealed: 'free_text', score_sealed: 'free_text' },
    basis: 'contract',
    erasure: 'null',
    guests: `t.id in (${issuesOfGuests})`,
    until: 'issues.keepTextMonths after closing',
  },
  {
    table: 'lost_item',
    columns: { sealed: 'free_text', close_sealed: 'contact' },
    basis: 'contract',
    erasure: 'null',
    guests: `t.id in (${itemsOfGuests})`,
    until: 'issues.keepTextMonths after closing',
  },
  {
    table: 'quote',
    columns: { override: 'free_text' },
    basis: 'contract',
    erasure: 'null',
    guests: ofGuest,
    set: { override: `t.override || '{"reason":"erased"}'` },
  },
  {
    table: 'waitlist_entry',
    columns: { sealed: 'contact', close_reason: 'free_text' },
    basis: 'contract',
    erasure: 'null',
    guests: `(${ofGuest} or t.booking_id in (${ofBooking}))`,
    // A request that was met is of the guest who booked, whose contact stood in words alone.
    set: {
      sealed: 'null',
      guest_id: `coalesce(t.guest_id, (select b.booker_guest_id from booking b where b.tenant_id = t.tenant_id and b.id = t.booking_id))`,
      close_reason: `case when t.close_reason is not null then 'erased' end`,
    },
  },
  {
    table: 'pos_order',
    columns: { note: 'free_text', discount_reason: 'free_text', cancel_reason: 'free_text' },
    basis: 'contract',
    erasure: 'null',
    guests: ofStay,
    set: {
      note: 'null',
      discount_reason: `case when t.discount_reason is not null then 'erased' end`,
      cancel_reason: `case when t.cancel_reason is not null then 'erased' end`,
    },
  },
  {
    table: 'pos_order_line',
    columns: { note: 'free_text', void_reason: 'free_text' },
    basis: 'contract',
    erasure: 'null',
    guests: `t.order_id in (select t.id from pos_order t where ${ofStay})`,
    set: { note: 'null', void_reason: `case when t.void_reason is not null then 'erased' end` },
  },
  {
    table: 'pos_settlement',
    columns: { reason: 'free_text' },
    basis: 'contract',
    erasure: 'null',
    guests: `t.order_id in (select t.id from pos_order t where ${ofStay})`,
    set: { reason: `case when t.reason is not null then 'erased' end` },
  },
  {
    table: 'housekeeping_task',
    columns: { note: 'free_text' },
    basis: 'contract',
    erasure: 'null',
    guests: ofStay,
    set: { note: `''` },
  },
  {
    table: 'message_attempt',
    columns: { recipient: 'contact', subject: 'free_text', body: 'free_text', recipient_index: 'contact' },
    basis: 'contract',
    erasure: 'null',
    guests: `t.message_id in (${messagesOfGuests})`,
    set: { recipient: 'null', subject: 'null', body: 'null', recipient_index: `decode(repeat('00', 16), 'hex')` },
  },
  {
    table: 'message',
    columns: { text: 'free_text', recipient: 'contact' },
    basis: 'contract',
    erasure: 'null',
    guests: `t.id in (${messagesOfGuests})`,
  },
  {
    table: 'conversation',
    columns: { address: 'contact', address_index: 'contact' },
    basis: 'contract',
    erasure: 'null',
    guests: ofGuest,
    // The conversation is closed, too: the unique index covers open ones, whose zeros would collide.
    set: {
      address: 'null',
      address_index: `decode(repeat('00', 16), 'hex')`,
      status: `'closed'`,
      closed_at: 'coalesce(t.closed_at, now())',
    },
  },
  {
    table: 'message_callback',
    columns: { body: 'free_text' },
    basis: 'contract',
    erasure: 'elsewhere',
    until: 'it is processed, within hours',
  },
  {
    table: 'payment',
    columns: { payer: 'payment', payer_index: 'payment', submission: 'payment', action: 'payment', note: 'free_text' },
    basis: 'legal_obligation',
    erasure: 'null',
    guests: paymentOf('t'),
    set: { payer: 'null', payer_index: 'null', action: 'null', note: 'null' },
  },
  {
    table: 'payment_exception',
    columns: { reason: 'free_text' },
    basis: 'legal_obligation',
    erasure: 'null',
    guests: `(t.subject_type = 'payment' and t.subject_id in (select p.id from payment p where ${paymentOf('p')}))`,
    set: { reason: `case when t.reason is not null then 'erased' end` },
  },
  {
    table: 'refund',
    columns: { note: 'free_text' },
    basis: 'legal_obligation',
    erasure: 'null',
    guests: `t.payment_id in (select p.id from payment p where ${paymentOf('p')})`,
  },
  {
    table: 'payment_method',
    columns: { submission: 'payment', action: 'payment', consent_address_hash: 'technical' },
    basis: 'consent',
    erasure: 'null',
    guests: `(t.guest_id = any(:ids::uuid[]) or t.booking_id in (${ofBooking}))`,
  },
  {
    table: 'dispute',
    columns: { evidence: 'free_text' },
    basis: 'claims',
    erasure: 'null',
    guests: `t.payment_id in (select p.id from payment p where ${paymentOf('p')})`,
  },
  {
    table: 'channel_booking',
    columns: { payload: 'contact', dismiss_reason: 'free_text' },
    basis: 'contract',
    erasure: 'null',
    guests: ofChannelBooking,
    set: { payload: 'null', dismiss_reason: `case when t.dismiss_reason is not null then 'erased' end` },
  },
  {
    table: 'privacy_request',
    columns: { sealed: 'free_text', reason: 'free_text', export_blob_id: 'identity' },
    basis: 'legal_obligation',
    erasure: 'keep until',
    guests: ofGuest,
    until: 'the end of the tenant; what it says of the person is unreadable',
  },
  {
    table: 'guest_registration',
    columns: { sealed: 'identity', reject_reason: 'free_text' },
    basis: 'legal_obligation',
    erasure: 'keep until',
    guests: ofGuest,
    until: 'registration.retentionYears after the last departure',
  },
  {
    table: 'folio',
    columns: { label: 'free_text' },
    basis: 'legal_obligation',
    erasure: 'null',
    guests: `t.id in (${folioOf})`,
    set: { label: `''` },
    only: `t.label <> ''`,
    until: 'the end of the tenant; with the id of the guest alone',
  },
  // Of no guest in particular, or found by no guest's id.
  { table: 'blob', columns: { bytes: 'image' }, basis: 'legal_obligation', erasure: 'elsewhere', until: 'its record' },
  {
    table: 'report_file',
    columns: { bytes: 'free_text' },
    basis: 'legal_obligation',
    erasure: 'elsewhere',
    until: '30 days after the run that made it',
  },
  {
    table: 'attachment',
    columns: { file_name: 'free_text', hide_reason: 'free_text', sha256: 'image', blob_id: 'image' },
    basis: 'legal_obligation',
    erasure: 'elsewhere',
    until: 'its record, or the time for which the module of the record keeps it',
  },
  {
    table: 'company',
    columns: {
      email: 'contact',
      phone: 'contact',
      address: 'contact',
      sealed: 'contact',
      name_search: 'identity',
      notes: 'free_text',
    },
    basis: 'contract',
    erasure: 'elsewhere',
    until: 'the end of the tenant',
  },
  {
    table: 'book',
    columns: { sealed: 'document', document_index: 'document' },
    basis: 'legal_obligation',
    erasure: 'elsewhere',
    until: 'the end of the tenant, whose natural person it is',
  },
  {
    table: 'supplier',
    columns: {
      legal_name: 'identity',
      trade_name: 'identity',
      document: 'document',
      search: 'identity',
      notes: 'free_text',
      block_reason: 'free_text',
      sealed: 'contact',
    },
    basis: 'contract',
    erasure: 'elsewhere',
    until: 'the end of the tenant',
  },
  {
    table: 'supplier_bank_details',
    columns: { sealed: 'payment', note: 'free_text', third_party_reason: 'free_text' },
    basis: 'contract',
    erasure: 'elsewhere',
    until: 'the end of the tenant',
  },
  {
    table: 'pix_key',
    columns: { value: 'payment' },
    basis: 'contract',
    erasure: 'elsewhere',
    until: 'the end of the tenant',
  },
  ...(['pix_charge', 'pix_receipt'] as const).map((table) => ({
    table,
    columns: { payer: 'payment' } as const,
    basis: 'legal_obligation' as const,
    erasure: 'elsewhere' as const,
    until: 'the time for which the law keeps accounts',
  })),
  {
    table: 'bank_statement_line',
    columns: { text: 'free_text', counterparty: 'identity' },
    basis: 'legal_obligation',
    erasure: 'elsewhere',
    until: 'the time for which the law keeps accounts',
  },
  ...(['payable', 'payable_payment_item', 'supplier_credit'] as const).map((table) => ({
    table,
    columns: { payee_name: 'identity', payee_document: 'document', payee_key: 'identity' } as const,
    basis: 'legal_obligation' as const,
    erasure: 'elsewhere' as const,
    until: 'the time for which the law keeps accounts',
  })),
  {
    table: 'customer',
    columns: {
      legal_name: 'identity',
      trade_name: 'identity',
      document: 'document',
      search: 'identity',
      sealed: 'contact',
      hold_reason: 'free_text',
      identity: 'identity',
    },
    basis: 'legal_obligation',
    erasure: 'null',
    guests: ofGuest,
    // The name and number of a customer who was billed are sealed into `identity` before, for as long as the law of taxes wants them.
    set: {
      legal_name: `'erased'`,
      trade_name: `''`,
      document: 'null',
      search: `'erased'`,
      sealed: 'null',
      hold_reason: `case when t.on_hold then 'erased' end`,
      status: `'archived'`,
    },
    until: 'eleven years after the last document, as the law of taxes wants it',
  },
  {
    table: 'receivable',
    columns: { sent_to: 'contact' },
    basis: 'legal_obligation',
    erasure: 'elsewhere',
    until: 'the time for which the law keeps accounts',
  },
  {
    table: 'receivable_sending',
    columns: { sealed: 'contact' },
    basis: 'contract',
    erasure: 'elsewhere',
    until: 'its receivable',
  },
  {
    table: 'fiscal_document',
    columns: { snapshot: 'identity', xml_blob_id: 'identity', service_text: 'free_text', cancel_reason: 'free_text' },
    basis: 'legal_obligation',
    erasure: 'elsewhere',
    until: 'eleven years after it was made, as the law of taxes wants it',
  },
  {
    table: 'receivable_settings',
    columns: { fiscal_credentials: 'credential' },
    basis: 'contract',
    erasure: 'elsewhere',
    until: 'the house takes them away',
  },
  {
    table: 'receipt',
    columns: { payer: 'identity', reference: 'free_text', search: 'identity' },
    basis: 'legal_obligation',
    erasure: 'elsewhere',
    until: 'the time for which the law keeps accounts',
  },
  {
    table: 'recurring_payable',
    columns: { template: 'identity' },
    basis: 'contract',
    erasure: 'elsewhere',
    until: 'the end of the tenant',
  },
  {
    table: 'booking_group',
    columns: { sealed: 'contact', name: 'free_text', notes: 'free_text', cancel_reason: 'free_text' },
    basis: 'contract',
    erasure: 'elsewhere',
    until: 'the group; its organiser, whose contact changes with the group',
  },
  {
    table: 'suppression',
    columns: { address: 'contact', address_index: 'contact', lift_reason: 'free_text' },
    basis: 'legitimate_interest',
    erasure: 'elsewhere',
    until: 'the suppression is lifted: no message goes to the address meanwhile',
  },
  {
    table: 'hold_strike',
    columns: { email_index: 'contact' },
    basis: 'legitimate_interest',
    erasure: 'elsewhere',
    until: 'a week',
  },
  {
    table: 'gateway_callback',
    columns: { raw_body: 'payment', headers: 'technical' },
    basis: 'legal_obligation',
    erasure: 'elsewhere',
    until: 'its time in payments',
  },
  { table: 'kept_reply', columns: { body: 'free_text' }, basis: 'contract', erasure: 'elsewhere', until: '72 hours' },
  {
    table: 'audit_entry',
    columns: { address: 'technical', reason: 'free_text' },
    basis: 'legal_obligation',
    erasure: 'elsewhere',
    until: 'the end of the trail; addresses are shortened to networks',
  },
  {
    table: 'app_user',
    columns: {
      email: 'contact',
      email_key: 'contact',
      name: 'identity',
      password_hash: 'credential',
      totp_secret: 'credential',
    },
    basis: 'contract',
    erasure: 'elsewhere',
    until: 'the account',
  },
  {
    table: 'session',
    columns: { first_ip: 'technical', last_ip: 'technical', user_agent: 'technical' },
    basis: 'legitimate_interest',
    erasure: 'elsewhere',
    until: 'the session',
  },
  {
    table: 'user_mail',
    columns: { address: 'technical' },
    basis: 'legitimate_interest',
    erasure: 'elsewhere',
    until: '30 days',
  },
  {
    table: 'sign_in_failure',
    columns: { account_key: 'contact', network: 'technical', address: 'technical' },
    basis: 'legitimate_interest',
    erasure: 'elsewhere',
    until: 'a day',
  },
  { table: 'password_request', columns: { email: 'contact' }, basis: 'contract', erasure: 'elsewhere', until: 'a day' },
  {
    table: 'one_time_token',
    columns: { data: 'contact' },
    basis: 'contract',
    erasure: 'elsewhere',
    until: 'the token',
  },
  {
    table: 'membership',
    columns: { invited_name: 'identity', invited_email: 'contact' },
    basis: 'contract',
    erasure: 'elsewhere',
    until: 'the membership',
  },
  {
    table: 'api_key',
    columns: { last_used_ip: 'technical' },
    basis: 'legitimate_interest',
    erasure: 'elsewhere',
    until: 'the key',
  },
  {
    table: 'tenant',
    columns: { billing_email: 'contact', billing_address: 'contact' },
    basis: 'contract',
    erasure: 'elsewhere',
    until: 'the tenant',
  },
  {
    table: 'property',
    columns: { phone: 'contact', email: 'contact', address: 'contact' },
    basis: 'contract',
    erasure: 'elsewhere',
    until: 'the property; of the house, and public',
  },
  {
    table: 'message_channel',
    columns: { sender_name: 'identity', sender_address: 'contact', reply_to: 'contact', test_recipient: 'contact' },
    basis: 'contract',
    erasure: 'elsewhere',
    until: 'the channel; of the house. Who gets a test, until it has ended',
  },
]
