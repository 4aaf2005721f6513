import pg from 'pg';
const c = new pg.Client({connectionString:'postgres://postgres@127.0.0.1:5999/postgres'}); await c.connect();
await c.query('drop table if exists b; create table b(id int primary key, lines bytea)');
const line=i=>`BR-${i},2026-11-20,2026-12-${10+i%19},100${i%977},hotelbeds,H${i*7919%100000},Ana Gil ${i},EUR,${(i*37)%900}.00,2,0,booked,ES,direct,room ${i%31} sea view with breakfast,x\n`;
for(let b=0;b<40;b++) await c.query('insert into b values($1,$2)',[b,Buffer.from(Array.from({length:500},(_,i)=>line(b*500+i)).join(''))]);
const size=(await c.query('select avg(length(lines)) n from b')).rows[0].n; console.log('bytes',size);
const T=`CASE WHEN substr(lines, 1, 1) = '\\x00'::bytea THEN chr(1) || encode(lines, 'base64') ELSE convert_from(lines, 'UTF8') END AS lines`;
async function go(name,sel,conv){ const t=process.hrtime.bigint(); const cpu=process.cpuUsage();
 for(let i=0;i<2000;i++){const r=await c.query({name,text:`select ${sel} from b where id=$1`,values:[i%40]}); conv(r.rows[0].lines);} const u=process.cpuUsage(cpu);
 console.log(name,Number(process.hrtime.bigint()-t)/1e6/2000,'ms each; client cpu', (u.user+u.system)/2000/1000);}
for(let k=0;k<3;k++){await go('text',T,x=>Buffer.from(x)); await go('bytea','lines',x=>x);}
await c.end();
