import { moment } from './kinds.ts'
import type { Mail, SecurityAct, UserMailKind } from './kinds.ts'

const acts: Record<SecurityAct, string> = {
  password_changed: 'se cambió su contraseña',
  password_reset: 'se estableció una contraseña nueva con un enlace que enviamos',
  email_changed: 'se cambió su correo',
  mfa_enabled: 'se activó la verificación en dos pasos',
  mfa_disabled: 'se desactivó la verificación en dos pasos',
  mfa_reset: 'un administrador quitó su segundo factor',
  recovery_codes_renewed: 'se crearon códigos de recuperación nuevos; los anteriores ya no valen',
  recovery_code_used: 'se usó un código de recuperación para entrar',
  session_reused: 'un token de su sesión se usó dos veces y la sesión se cerró: alguien puede haberlo copiado',
  failures_over_limit: 'muchos intentos de entrar con una contraseña errónea fallaron en un día',
}

export const spanish: Record<UserMailKind, Mail> = {
  invitation: {
    subject: ({ house }) => `Le invitan a ${house}`,
    text: ({ name, house, way }) =>
      `Hola, ${name}:\n\nle invitan a trabajar con ${house} en Pousada. Para aceptar, en 7 días:\n\n${way}\n\nSi no lo esperaba, ignórelo: no pasa nada.`,
  },
  password_reset: {
    subject: () => 'Establezca una contraseña nueva',
    text: ({ name, way }) =>
      `Hola, ${name}:\n\nalguien pidió una contraseña nueva para su cuenta. Para establecerla, en 30 minutos:\n\n${way}\n\nSi no fue usted, ignórelo: su contraseña sigue igual.`,
  },
  email_change: {
    subject: () => 'Confirme su nuevo correo',
    text: ({ name, way }) =>
      `Hola, ${name}:\n\nesta dirección será la de su cuenta. Para confirmarla, en una hora:\n\n${way}\n\nSi no fue usted, ignórelo.`,
  },
  email_notice: {
    subject: () => 'Su correo está a punto de cambiar',
    text: ({ name }) =>
      `Hola, ${name}:\n\nalguien que entró en su cuenta pidió cambiar su correo. El cambio vale cuando se confirme la nueva dirección.\n\nSi fue usted, no tiene que hacer nada. Si no, establezca una contraseña nueva de inmediato: eso cierra todas las sesiones y anula la petición.`,
  },
  security_notice: {
    subject: () => 'La seguridad de su cuenta ha cambiado',
    text: ({ name, act, at, address }) =>
      `Hola, ${name}:\n\n${act === null ? 'la contraseña, el segundo factor o el correo de su cuenta ha cambiado' : acts[act]}.\n\nCuándo: ${moment('es', at)}${address === null ? '' : `\nDesde: ${address}`}\n\nSi fue usted, no tiene que hacer nada. Si no, establezca una contraseña nueva de inmediato y cierre todas las sesiones.`,
  },
  key_expiring: {
    subject: ({ house }) => `Una clave de API de ${house} caduca pronto`,
    text: ({ name, house, key, day }) =>
      `Hola, ${name}:\n\nla clave de API "${key}" de ${house} caduca el ${day}. Sustitúyala antes, para que lo que la usa siga funcionando.`,
  },
  webhook_failing: {
    subject: ({ house }) => `Un endpoint de webhook de ${house} no responde`,
    text: ({ name, house, host, day }) =>
      `Hola, ${name}:\n\nel endpoint de webhook de ${house} en ${host} no recibe eventos desde el ${day}. Seguimos intentando. Tras tres días sin éxito se pausa; lo que perdió puede enviarse de nuevo.`,
  },
  webhook_paused: {
    subject: ({ house }) => `Un endpoint de webhook de ${house} se ha pausado`,
    text: ({ name, house, host, day }) =>
      `Hola, ${name}:\n\nel endpoint de webhook de ${house} en ${host} no recibe eventos desde el ${day} y se ha pausado. Cuando vuelva a funcionar, reanúdelo; lo que perdió puede enviarse de nuevo.`,
  },
  finance_dispute: {
    subject: ({ house, label }) => `Un pago a ${house} está en disputa: ${label}`,
    text: ({ name, house, label, day }) =>
      `Hola, ${name}:\n\nel titular de una tarjeta disputa un pago de ${label} a ${house}.${day === '' ? '' : ` Puede responderse hasta el ${day}; sin respuesta, se pierde.`} Está entre las disputas.`,
  },
  finance_payout: {
    subject: ({ house, label }) => `Un pago del gateway a ${house} ha fallado: ${label}`,
    text: ({ name, house, label }) =>
      `Hola, ${name}:\n\nel banco no aceptó un pago de ${label} a ${house}. Compruebe la cuenta bancaria en el gateway.`,
  },
  finance_account: {
    subject: ({ house, label }) => `La cuenta ${label} de ${house} en el gateway está restringida`,
    text: ({ name, house, label }) =>
      `Hola, ${name}:\n\nel gateway ha restringido la cuenta ${label} de ${house}: los cobros o los pagos están desactivados. La cuenta muestra lo que el gateway necesita saber.`,
  },
  issue_notice: {
    subject: ({ house, label }) => `${house}: la incidencia ${label} le necesita`,
    text: ({ name, house, label }) =>
      `Hola, ${name}:\n\nla incidencia ${label} de ${house} se elevó a su nivel. Véala, por favor: la lista muestra primero el plazo más cercano.`,
  },
  report_ready: {
    subject: ({ house, label }) => `${house}: ${label} está listo`,
    text: ({ name, house, label, way }) =>
      `Hola, ${name}:\n\nel informe «${label}» de ${house} está listo. Se conserva 30 días:\n\n${way}`,
  },
  approval_waiting: {
    subject: ({ house }) => `${house}: un documento espera su aprobación`,
    text: ({ name, house, amount }) =>
      `Hola, ${name}:\n\nUn documento de ${house}${amount === '' ? '' : ` por ${amount}`} espera su aprobación.`,
  },
  pix_connection_changed: {
    subject: ({ house, key }) => `${house}: Pix de la cuenta ${key}`,
    text: ({ name, house, key }) =>
      `Hola ${name}:\n\nse cambiaron las claves Pix o la conexión bancaria de la cuenta ${key} de ${house}. Si no lo esperaba, revise la cuenta de inmediato y pregunte quién hizo el cambio.`,
  },
  transfer_attention: {
    subject: ({ house, amount }) => `${house}: un Pix de ${amount} sin respuesta`,
    text: ({ name, house, key, amount }) =>
      `Hola ${name}:\n\ndesde hace días el banco no dice qué pasó con un Pix de ${amount} de la cuenta ${key} de ${house}. Pregunte al banco y mire el extracto de la cuenta antes de pagar de nuevo.`,
  },
  bank_details_changed: {
    subject: ({ house }) => `${house}: datos bancarios de un proveedor`,
    text: ({ name, house, key }) =>
      `Hola, ${name}:\n\nSe propusieron o decidieron datos bancarios del proveedor ${key} de ${house}. Si no lo esperaba, pregunte al proveedor por un número que ya conozca.`,
  },
  tenant_suspended: {
    subject: ({ house }) => `${house} está suspendida`,
    text: ({ name, house, day }) =>
      `Hola, ${name}:\n\nel uso de Pousada por ${house} se suspendió el ${day}. Los datos siguen como están. Las facturas aún se pueden ver y pagar. Escríbanos para volver a abrirla.`,
  },
  tenant_deletion_planned: {
    subject: ({ house }) => `Los datos de ${house} se borrarán`,
    text: ({ name, house, day }) =>
      `Hola, ${name}:\n\nlos datos de ${house} en Pousada se borrarán después del ${day}. Hasta entonces podemos deshacerlo: escríbanos si es un error.`,
  },
  support_session: {
    subject: ({ house }) => `Nuestro soporte está en ${house}`,
    text: ({ name, house, day }) =>
      `Hola, ${name}:\n\nuna persona de nuestro soporte entró en ${house} el ${day}. La sesión termina sola en una hora como máximo; todo lo que se haga queda en su registro de auditoría. En los ajustes de su organización puede permitir o prohibir estas sesiones.`,
  },
  subscription_invoice: {
    subject: ({ house, key }) => `Factura ${key} de ${house}`,
    text: ({ name, house, key, day, amount }) =>
      `Hola, ${name}:\n\nla factura ${key} de ${house} está lista: ${amount}, con vencimiento el ${day}. La encontrará con sus líneas en la facturación.`,
  },
  subscription_payment_failed: {
    subject: ({ key }) => `No se pudo cobrar la factura ${key}`,
    text: ({ name, house, key, day, amount }) =>
      `Hola, ${name}:\n\nel pago de la factura ${key} de ${house} falló: ${amount}, con vencimiento el ${day}. Indique otro medio de pago en la facturación; lo intentaremos de nuevo en los próximos días.`,
  },
  subscription_overdue: {
    subject: ({ key }) => `La factura ${key} está vencida`,
    text: ({ name, house, key, day, amount }) =>
      `Hola, ${name}:\n\nla factura ${key} de ${house} venció el ${day} y aún no está pagada: ${amount}. Páguela o indique otro medio de pago en la facturación.`,
  },
  add_on_price: {
    subject: ({ house }) => `Un precio de ${house} cambia`,
    text: ({ name, house, key, day }) =>
      `Hola, ${name}:\n\nel precio del complemento ${key} cambia para ${house} con el primer período de facturación que empiece después del ${day}. Puede cancelarlo en cualquier momento, sin penalización.`,
  },
  tenant_export: {
    subject: ({ house }) => `Se exportaron los datos de ${house}`,
    text: ({ name, house, day }) =>
      `Hola, ${name}:\n\nnuestro equipo pidió el ${day} una exportación de todos los datos de ${house}. Si no sabe por qué, escríbanos.`,
  },
}
