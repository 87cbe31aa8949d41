import type { MessageTexts } from './templates.ts'

export const english: MessageTexts = {
  'reservation-confirmed': {
    subject: 'Your reservation {{reservation.number}} at {{property.name}} is confirmed',
    text: `Dear {{guest.firstName | default:"guest"}},

Thank you for booking with us. Your reservation is confirmed.

Reservation: {{reservation.number}}
Arrival: {{reservation.arrival | date}}, from {{property.checkInFrom | time | default:"the afternoon"}}
Departure: {{reservation.departure | date}}, until {{property.checkOutUntil | time | default:"noon"}}
Nights: {{reservation.nights}}
Room: {{reservation.unitType}}, {{reservation.ratePlan}}
Adults: {{reservation.adults}}, children: {{reservation.children}}

Total of the stay: {{reservation.total | money}}
Paid for the booking so far: {{booking.paid | money}}
Still to be paid: {{booking.balance | money}}

Changes and cancellation: {{reservation.cancellation | default:"please ask us"}}

We look forward to welcoming you.

{{property.name}}
{{property.address | default:""}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: reservation {{reservation.number}} is confirmed, {{reservation.arrival | date}} to {{reservation.departure | date}}.`,
  },
  'reservation-cancelled': {
    subject: 'Your reservation {{reservation.number}} at {{property.name}} has been cancelled',
    text: `Dear {{guest.firstName | default:"guest"}},

Your reservation {{reservation.number}} from {{reservation.arrival | date}} to {{reservation.departure | date}} has been cancelled.

Cancellation fee: {{reservation.fee | money}}
Goes back to you: {{booking.returned | money}}

What you paid beyond the fee goes back to you by the way you paid. Depending on your bank it can take some days until you see it.

If you did not ask for this, please contact us at once. We hope to welcome you another time.

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: reservation {{reservation.number}} has been cancelled. Fee: {{reservation.fee | money}}.`,
  },
  'payment-captured': {
    subject: 'We have received your payment of {{payment.amount | money}}',
    text: `Dear {{guest.firstName | default:"guest"}},

We have received your payment. Thank you.

Booking: {{booking.number}}
Amount: {{payment.amount | money}}
Paid by: {{payment.method}}

Total of the booking: {{booking.total | money}}
Paid so far: {{booking.paid | money}}
Still to be paid: {{booking.balance | money}}

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: we have received {{payment.amount | money}} for booking {{booking.number}}. Thank you.`,
  },
  'payment-returned': {
    subject: 'Your payment for booking {{booking.number}} is being returned',
    text: `Dear {{guest.firstName | default:"guest"}},

Your payment for booking {{booking.number}} reached us after the time to pay had ended, and the room was no longer free.

We return the whole amount by the way you paid: {{booking.returned | money}}. Depending on your bank it can take some days until you see it.

We are sorry, and glad to help you find other dates.

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: your payment of {{booking.returned | money}} came too late and is being returned.`,
  },
  'pre-arrival': {
    subject: 'See you soon at {{property.name}}',
    text: `Dear {{guest.firstName | default:"guest"}},

Your stay begins on {{reservation.arrival | date}}. You can check in from {{property.checkInFrom | time | default:"the afternoon"}}; check-out is until {{property.checkOutUntil | time | default:"noon"}}.

Please bring an identity document of every guest. Tell us when you expect to arrive, or if you need anything before: just answer this message.

Guest registration: {{registration.link | default:"at the desk, when you arrive"}}

Reservation: {{reservation.number}}
Still to be paid: {{booking.balance | money}}

{{property.name}}
{{property.address | default:""}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: we expect you on {{reservation.arrival | date}}, check-in from {{property.checkInFrom | time | default:"the afternoon"}}. Please bring your documents. Registration: {{registration.link | default:"at the desk"}}`,
  },
  'arrival-day': {
    subject: 'How to find {{property.name}} today',
    text: `Dear {{guest.firstName | default:"guest"}},

Today is the day. We are here:

{{property.address | default:"Please ask us for directions."}}

Check-in is from {{property.checkInFrom | time | default:"the afternoon"}}. If you are lost or late, call us: {{property.phone | default:"see our website"}}.

Have a good journey.

{{property.name}}`,
    sms: `{{property.name}}: today is the day! {{property.address | default:""}} Check-in from {{property.checkInFrom | time | default:"the afternoon"}}. {{property.phone | default:""}}`,
  },
  'thank-you': {
    subject: 'Thank you for staying at {{property.name}}',
    text: `Dear {{guest.firstName | default:"guest"}},

Thank you for having been our guest. We hope that you arrived home well.

Was something not as it should have been, or did you leave something behind? Just answer this message.

You are welcome any time.

{{property.name}}
{{property.website | default:""}}`,
    sms: `{{property.name}}: thank you for your stay. You are welcome any time.`,
  },
  'booking-access-code': {
    subject: 'Your code for booking {{booking.number}}',
    text: `Your code to see booking {{booking.number}} at {{property.name}}:

{{code | default:"please ask for a new code"}}

It is good for 10 minutes. If you did not ask for it, you need not do anything: without the code nobody can see your booking.

{{property.name}}`,
    sms: `{{property.name}}: your code is {{code | default:"not available"}}. It is good for 10 minutes.`,
  },
  'payment-link': {
    subject: 'Payment for booking {{booking.number}} at {{property.name}}',
    text: `Dear {{guest.firstName | default:"guest"}},

Please pay {{payment.amount | money}} for booking {{booking.number}} here:

{{link | default:"please ask us for a new link"}}

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: please pay {{payment.amount | money}} here: {{link | default:"ask us for a new link"}}`,
  },
  'registration-link': {
    subject: 'Please register for your stay at {{property.name}}',
    text: `Dear {{guest.firstName | default:"guest"}},

Before your stay from {{reservation.arrival | date}} the law asks us to register our guests. It takes two minutes and spares you the form at the desk:

{{link | default:"please ask us for a new link"}}

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: please register for your stay: {{link | default:"ask us for a new link"}}`,
  },
  'issue-opened': {
    subject: 'We are looking into it: {{issue.title | default:"your message"}}',
    text: `Dear {{guest.firstName | default:"guest"}},

We have received your message, number {{issue.number}}, and somebody is taking care of it:

{{issue.title | default:""}}

We will come back to you as soon as we can.

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: message {{issue.number}} received, we are looking into it.`,
  },
  'bank-details-changed': {
    subject: 'Your bank details at {{property.name}}',
    text: `Hello,

the bank details by which {{property.name}} pays your company are being changed: new ones were proposed, or a proposal was decided on.

If you have not asked for it, tell us at once, by a telephone number that you know. Do not answer messages that ask for passwords or new details.

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: your bank details are being changed. Not asked for? Tell us at once.`,
  },
  'purchase-order': {
    subject: 'Purchase order {{order.number}} of {{property.name}}',
    text: `Dear {{order.supplier}},

please deliver to {{property.name}}, {{property.address | default:""}}:

{{order.lines}}

Total: {{order.total | money}}
Expected on: {{order.expectedOn | date | default:"as soon as you can"}}

{{order.notes | default:""}}

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: purchase order {{order.number}}, {{order.total | money}}.`,
  },
  'receivable-invoice': {
    subject: 'Invoice {{receivable.number | default:""}} from {{property.name}}',
    text: `Dear {{receivable.customer | default:"customer"}},

{{receivable.message | default:"Here is your invoice."}}

Invoice: {{receivable.number | default:"-"}}
Your reference: {{receivable.reference | default:"-"}}
Issued on: {{receivable.issuedOn | date | default:"-"}}
Total: {{receivable.total | money | default:"-"}}
Still to be paid: {{receivable.open | money | default:"-"}}

Due:
{{receivable.installments | default:"-"}}

{{receivable.pix | default:""}}

{{property.name}}
{{property.address | default:""}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: invoice {{receivable.number | default:""}}, {{receivable.open | money | default:""}}, due {{receivable.dueOn | date | default:""}}. {{receivable.pix | default:""}}`,
  },
  'dunning-notice': {
    subject: 'Reminder {{dunning.level | default:""}}: {{dunning.total | money | default:""}} to {{property.name}}',
    text: `Dear {{receivable.customer | default:"customer"}},

by our books the following is still to be paid:

{{dunning.installments | default:"-"}}

Together: {{dunning.total | money | default:"-"}}

If you have paid in the meantime, please disregard this reminder. If you cannot pay in time, please talk to us.

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: {{dunning.total | money | default:""}} is still to be paid. Please talk to us if this is not right.`,
  },
  'issue-comment': {
    subject: 'Our answer: {{issue.title | default:"your message"}}',
    text: `Dear {{guest.firstName | default:"guest"}},

About your message, number {{issue.number}}:

{{issue.comment | default:""}}

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: about message {{issue.number}}: {{issue.comment | default:""}}`,
  },
  'issue-satisfaction': {
    subject: 'How did we handle it?',
    text: `Dear {{guest.firstName | default:"guest"}},

Your message, number {{issue.number}}, has been dealt with. Please tell us with one click how we handled it, from 1 to 5:

{{link | default:"ask us for a new link"}}

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: how did we handle message {{issue.number}}? {{link | default:"ask us for a new link"}}`,
  },
}
