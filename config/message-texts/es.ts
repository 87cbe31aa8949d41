import type { MessageTexts } from './templates.ts'

export const spanish: MessageTexts = {
  'reservation-confirmed': {
    subject: 'Su reserva {{reservation.number}} en {{property.name}} está confirmada',
    text: `Hola, {{guest.firstName | default:"huésped"}}:

Gracias por reservar con nosotros. Su reserva está confirmada.

Reserva: {{reservation.number}}
Llegada: {{reservation.arrival | date}}, desde las {{property.checkInFrom | time | default:"primeras horas de la tarde"}}
Salida: {{reservation.departure | date}}, hasta las {{property.checkOutUntil | time | default:"doce"}}
Noches: {{reservation.nights}}
Alojamiento: {{reservation.unitType}}, {{reservation.ratePlan}}
Adultos: {{reservation.adults}}, niños: {{reservation.children}}

Total de la estancia: {{reservation.total | money}}
Pagado hasta ahora: {{booking.paid | money}}
Por pagar: {{booking.balance | money}}

Cambios y cancelación: {{reservation.cancellation | default:"consúltenos"}}

Le esperamos.

{{property.name}}
{{property.address | default:""}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: reserva {{reservation.number}} confirmada, del {{reservation.arrival | date}} al {{reservation.departure | date}}.`,
  },
  'reservation-cancelled': {
    subject: 'Su reserva {{reservation.number}} en {{property.name}} ha sido cancelada',
    text: `Hola, {{guest.firstName | default:"huésped"}}:

Su reserva {{reservation.number}}, del {{reservation.arrival | date}} al {{reservation.departure | date}}, ha sido cancelada.

Cargo por cancelación: {{reservation.fee | money}}
Se le devuelve: {{booking.returned | money}}

Lo que pagó por encima del cargo vuelve a usted por el mismo medio de pago. Según su banco puede tardar unos días.

Si no lo pidió usted, póngase en contacto con nosotros de inmediato. Esperamos recibirle en otra ocasión.

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: la reserva {{reservation.number}} ha sido cancelada. Cargo: {{reservation.fee | money}}.`,
  },
  'payment-captured': {
    subject: 'Hemos recibido su pago de {{payment.amount | money}}',
    text: `Hola, {{guest.firstName | default:"huésped"}}:

Hemos recibido su pago. Gracias.

Reserva: {{booking.number}}
Importe: {{payment.amount | money}}
Forma de pago: {{payment.method}}

Total de la reserva: {{booking.total | money}}
Pagado hasta ahora: {{booking.paid | money}}
Por pagar: {{booking.balance | money}}

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: hemos recibido {{payment.amount | money}} por la reserva {{booking.number}}. Gracias.`,
  },
  'payment-returned': {
    subject: 'Le devolvemos el pago de la reserva {{booking.number}}',
    text: `Hola, {{guest.firstName | default:"huésped"}}:

Su pago de la reserva {{booking.number}} llegó después del plazo, y el alojamiento ya no estaba libre.

Le devolvemos el importe completo por el mismo medio de pago: {{booking.returned | money}}. Según su banco puede tardar unos días.

Lo sentimos, y con gusto le ayudamos a encontrar otras fechas.

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: su pago de {{booking.returned | money}} llegó fuera de plazo y se le devuelve.`,
  },
  'pre-arrival': {
    subject: 'Hasta pronto, en {{property.name}}',
    text: `Hola, {{guest.firstName | default:"huésped"}}:

Su estancia empieza el {{reservation.arrival | date}}. La entrada es desde las {{property.checkInFrom | time | default:"primeras horas de la tarde"}} y la salida hasta las {{property.checkOutUntil | time | default:"doce"}}.

Traiga un documento de identidad de cada huésped. Díganos a qué hora piensa llegar, o si necesita algo antes: basta con responder a este mensaje.

Registro de huéspedes: {{registration.link | default:"en la recepción, al llegar"}}

Reserva: {{reservation.number}}
Por pagar: {{booking.balance | money}}

{{property.name}}
{{property.address | default:""}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: le esperamos el {{reservation.arrival | date}}, entrada desde las {{property.checkInFrom | time | default:"primeras horas de la tarde"}}. Traiga sus documentos. Registro: {{registration.link | default:"en la recepción"}}`,
  },
  'arrival-day': {
    subject: 'Cómo llegar hoy a {{property.name}}',
    text: `Hola, {{guest.firstName | default:"huésped"}}:

Hoy es el día. Estamos aquí:

{{property.address | default:"Pídanos indicaciones del camino."}}

La entrada es desde las {{property.checkInFrom | time | default:"primeras horas de la tarde"}}. Si se pierde o se retrasa, llámenos: {{property.phone | default:"vea nuestra web"}}.

Buen viaje.

{{property.name}}`,
    sms: `{{property.name}}: ¡hoy es el día! {{property.address | default:""}} Entrada desde las {{property.checkInFrom | time | default:"primeras horas de la tarde"}}. {{property.phone | default:""}}`,
  },
  'thank-you': {
    subject: 'Gracias por alojarse en {{property.name}}',
    text: `Hola, {{guest.firstName | default:"huésped"}}:

Gracias por su visita. Esperamos que haya llegado bien a casa.

¿Algo no fue como debía, o dejó algo olvidado? Basta con responder a este mensaje.

Vuelva cuando quiera.

{{property.name}}
{{property.website | default:""}}`,
    sms: `{{property.name}}: gracias por su estancia. Vuelva cuando quiera.`,
  },
  'booking-access-code': {
    subject: 'Su código para la reserva {{booking.number}}',
    text: `Su código para ver la reserva {{booking.number}} en {{property.name}}:

{{code | default:"pida un código nuevo"}}

Vale durante 10 minutos. Si no lo pidió usted, no tiene que hacer nada: sin el código nadie puede ver su reserva.

{{property.name}}`,
    sms: `{{property.name}}: su código es {{code | default:"no disponible"}}. Vale durante 10 minutos.`,
  },
  'payment-link': {
    subject: 'Pago de la reserva {{booking.number}} en {{property.name}}',
    text: `Hola, {{guest.firstName | default:"huésped"}}:

Pague {{payment.amount | money}} de la reserva {{booking.number}} aquí:

{{link | default:"pídanos un enlace nuevo"}}

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: pague {{payment.amount | money}} aquí: {{link | default:"pídanos un enlace nuevo"}}`,
  },
  'registration-link': {
    subject: 'Regístrese para su estancia en {{property.name}}',
    text: `Hola, {{guest.firstName | default:"huésped"}}:

Antes de su estancia, desde el {{reservation.arrival | date}}, la ley nos pide registrar a los huéspedes. Son dos minutos y le ahorra el formulario en recepción:

{{link | default:"pídanos un enlace nuevo"}}

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: regístrese para su estancia: {{link | default:"pídanos un enlace nuevo"}}`,
  },
  'issue-opened': {
    subject: 'Nos estamos ocupando: {{issue.title | default:"su mensaje"}}',
    text: `Hola, {{guest.firstName | default:"huésped"}}:

Hemos recibido su mensaje, número {{issue.number}}, y alguien ya se ocupa de él:

{{issue.title | default:""}}

Le responderemos lo antes posible.

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: mensaje {{issue.number}} recibido, nos estamos ocupando.`,
  },
  'bank-details-changed': {
    subject: 'Sus datos bancarios en {{property.name}}',
    text: `Hola:

hay un cambio en los datos bancarios con los que {{property.name}} paga a su empresa: se propusieron datos nuevos o se decidió sobre una propuesta.

Si usted no lo pidió, avísenos enseguida, por un teléfono que conozca. No responda a mensajes que pidan contraseñas o datos nuevos.

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: hay un cambio en sus datos bancarios. ¿No lo pidió? Avísenos enseguida.`,
  },
  'purchase-order': {
    subject: 'Orden de compra {{order.number}} de {{property.name}}',
    text: `Hola, {{order.supplier}}:

pedimos la entrega en {{property.name}}, {{property.address | default:""}}:

{{order.lines}}

Total: {{order.total | money}}
Previsto para: {{order.expectedOn | date | default:"lo antes posible"}}

{{order.notes | default:""}}

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: orden de compra {{order.number}}, {{order.total | money}}.`,
  },
  'receivable-invoice': {
    subject: 'Factura {{receivable.number | default:""}} de {{property.name}}',
    text: `Hola, {{receivable.customer | default:"cliente"}}:

{{receivable.message | default:"le enviamos su factura."}}

Factura: {{receivable.number | default:"-"}}
Su referencia: {{receivable.reference | default:"-"}}
Emitida el: {{receivable.issuedOn | date | default:"-"}}
Total: {{receivable.total | money | default:"-"}}
Por pagar: {{receivable.open | money | default:"-"}}

Vencimientos:
{{receivable.installments | default:"-"}}

{{receivable.pix | default:""}}

{{property.name}}
{{property.address | default:""}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: factura {{receivable.number | default:""}}, {{receivable.open | money | default:""}}, vence {{receivable.dueOn | date | default:""}}. {{receivable.pix | default:""}}`,
  },
  'dunning-notice': {
    subject:
      'Recordatorio {{dunning.level | default:""}}: {{dunning.total | money | default:""}} por pagar a {{property.name}}',
    text: `Hola, {{receivable.customer | default:"cliente"}}:

según nuestros libros queda por pagar:

{{dunning.installments | default:"-"}}

En total: {{dunning.total | money | default:"-"}}

Si ya ha pagado, no tenga en cuenta este recordatorio. Si no puede pagar a tiempo, hable con nosotros.

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: quedan {{dunning.total | money | default:""}} por pagar. Si no es correcto, hable con nosotros.`,
  },
  'issue-comment': {
    subject: 'Nuestra respuesta: {{issue.title | default:"su mensaje"}}',
    text: `Hola, {{guest.firstName | default:"huésped"}}:

Sobre su mensaje, número {{issue.number}}:

{{issue.comment | default:""}}

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: sobre el mensaje {{issue.number}}: {{issue.comment | default:""}}`,
  },
  'issue-satisfaction': {
    subject: '¿Cómo le hemos atendido?',
    text: `Hola, {{guest.firstName | default:"huésped"}}:

Su mensaje, número {{issue.number}}, ha sido atendido. Díganos con un clic, del 1 al 5, cómo le hemos atendido:

{{link | default:"pida un enlace nuevo"}}

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: ¿cómo atendimos el mensaje {{issue.number}}? {{link | default:"pida un enlace nuevo"}}`,
  },
}
