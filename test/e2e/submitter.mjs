// A service that submits one job, says its id as soon as it has the 202, and does nothing else until it is killed.

const [, , url, body, headers] = process.argv;
const response = await fetch(url, {
  method: "POST",
  headers: { "content-type": "application/json", ...JSON.parse(headers) },
  body,
});
process.stdout.write(`${response.status} ${response.headers.get("sir-job-id")}\n`);
setInterval(() => undefined, 1_000);
